import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { addDays } from '../src/day.js';
import { DATABASE } from '../src/disk/data-files.js';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { isServed } from '../src/socket/control-socket.js';
import { daybook, ended, served, start, TODAY } from './program.js';
import { until } from './service.js';
import { event, temporaryFolder } from './world.js';

/** A place in the program at which a process waits. */
interface Place {
  /** A function of `node:fs`, or of its promises. */
  readonly call: string;
  /** What one of its paths ends with. */
  readonly ending: string;
  /** Whether the process waits after the call; else before. */
  readonly isDone?: boolean;
}

/** What holds a process back at a place: its variables, when it is there, and what lets it go on. */
function heldBack(place: Place) {
  const gate = join(temporaryFolder(), 'gate');
  return {
    env: {
      NODE_OPTIONS: `--import=${join(PACKAGE_ROOT, 'test', 'held-back.js')}`,
      HELD_BACK: JSON.stringify({ ...place, gate }),
    },
    reached: () => until(async () => existsSync(`${gate}.reached`)),
    goOn: () => writeFileSync(gate, ''),
  };
}

/** Starts a command that is held back at a place, and waits until it is there. Answers what lets it go on, and what it comes to then. */
async function begun(args: string[], place: Place) {
  const held = heldBack(place);
  const child = start(args, { env: { ...held.env, DAYBOOK_BUILD_AT: 'off' } });
  const end = ended(child);
  await held.reached();
  return {
    end: () => {
      held.goOn();
      return end;
    },
    child,
    goOn: held.goOn,
  };
}

/** Takes in some events of an organization that is named by them. */
async function ingest(data: string, orgId: string, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify(event(`${orgId}-${index}`, { timestamp: `${TODAY}T00:00:00Z` })),
  );
  const taken = await daybook(['--data', data, 'ingest', '--org', orgId, '-'], {
    input: `${lines.join('\n')}\n`,
  });
  expect(taken).toMatchObject({ code: 0, stdout: expect.stringContaining(`${count} accepted`) });
}

/** How many events the organizations have. */
async function eventsIn(data: string): Promise<Record<string, number>> {
  const { stdout, stderr } = await daybook(['--data', data, 'status', '--json']);
  expect(stderr).toBe('');
  const { organizations } = JSON.parse(stdout) as { organizations: { org_id: string; events: number }[] };
  return Object.fromEntries(organizations.map(({ org_id, events }) => [org_id, events]));
}

function newData(): string {
  return join(temporaryFolder(), 'data');
}

async function backedUp(data: string): Promise<string> {
  const folder = join(temporaryFolder(), 'backup');
  expect(await daybook(['--data', data, 'backup', folder])).toMatchObject({ code: 0 });
  return folder;
}

test('a damaged log that another process has mended meanwhile is left to that', async () => {
  const data = newData();
  const { child } = await served(data);
  await ingest(data, 'before', 3);
  child.kill('SIGKILL');
  await once(child, 'close');
  const log = join(data, `${DATABASE}.wal`);
  appendFileSync(log, Buffer.concat([Buffer.alloc(5000), readFileSync(log).subarray(-700)]));
  const building = await begun(['--data', data, 'build'], {
    call: 'copyFileSync',
    ending: `${DATABASE}.wal`,
    isDone: true,
  });
  const service = await served(data);
  await ingest(data, 'meanwhile', 200);
  expect(await building.end()).toMatchObject({ code: 0 });
  service.child.kill('SIGKILL');
  await once(service.child, 'close');
  expect(await eventsIn(data)).toEqual({ before: 3, meanwhile: 200 });
  expect(readdirSync(data).filter((name) => name.includes('damaged'))).toHaveLength(1);
});

test('a service that opens the database while it is restored refuses, and nothing is lost', async () => {
  const data = newData();
  await ingest(data, 'old', 3);
  const backup = await backedUp(data);
  await ingest(data, 'new', 2);
  const serving = await begun(['--data', data, 'serve', '--port', '0'], { call: 'open', ending: DATABASE });
  const restoring = await begun(['--data', data, 'restore', backup, '--replace'], {
    call: 'open',
    ending: 'aside.new',
  });
  expect(await serving.end()).toMatchObject({
    code: 2,
    stderr: `A restore into ${data} was interrupted: run the same "daybook restore" again.\n`,
  });
  expect(await restoring.end()).toMatchObject({ code: 0 });
  expect(await eventsIn(data)).toEqual({ old: 3 });
});

test('a restore refuses where a service has opened the database meanwhile, and changes nothing', async () => {
  const data = newData();
  await ingest(data, 'old', 3);
  const backup = await backedUp(data);
  const restoring = await begun(['--data', data, 'restore', backup, '--replace'], {
    call: 'rename',
    ending: '/restored',
  });
  const { child } = await served(data);
  expect(await restoring.end()).toEqual({
    code: 2,
    stdout: '',
    stderr: `node (process ${child.pid}) has the database in ${data} open: end it first, or restore into another folder.\n`,
  });
  await ingest(data, 'new', 2);
  expect(await eventsIn(data)).toEqual({ new: 2, old: 3 });
  expect(readdirSync(data).filter((name) => name.startsWith('restored'))).toEqual([]);
});

test('of two backups to one folder one is whole, and the other says that there is one', async () => {
  const data = newData();
  await ingest(data, 'old', 3);
  const folder = join(temporaryFolder(), 'backup');
  const first = await begun(['--data', data, 'backup', folder], { call: 'rename', ending: '/backup' });
  await ingest(data, 'new', 2);
  expect(await daybook(['--data', data, 'backup', folder])).toMatchObject({ code: 0 });
  expect(await first.end()).toEqual({
    code: 2,
    stdout: '',
    stderr: `The folder ${folder} is not empty: name a new folder.\n`,
  });
  const restored = newData();
  expect(await daybook(['--data', restored, 'restore', folder])).toMatchObject({ code: 0 });
  expect(await eventsIn(restored)).toEqual({ new: 2, old: 3 });
  expect(readdirSync(join(folder, '..'))).toEqual(['backup']);
});

test('standard input waits for no restore, and what a killed process has kept of it goes', async () => {
  const data = newData();
  mkdirSync(join(data, 'restored'), { recursive: true });
  const args = ['--data', data, 'ingest', '--org', 'acme', '-'];
  expect(await daybook(args, { input: '{}\n' })).toEqual({
    code: 2,
    stdout: '',
    stderr: `A restore into ${data} was interrupted: run the same "daybook restore" again.\n`,
  });
  expect(readdirSync(data)).toEqual(['restored']);
  const other = newData();
  const child = start(['--data', other, ...args.slice(2)]);
  child.stdin?.write('{}\n');
  await until(async () => existsSync(join(other, `stdin-${child.pid}`)));
  // While it waits, another command leaves it alone.
  await ingest(other, 'other', 1);
  expect(readdirSync(other)).toContain(`stdin-${child.pid}`);
  child.kill('SIGKILL');
  await once(child, 'close');
  await ingest(other, 'other', 1).catch(() => undefined);
  expect(readdirSync(other).filter((name) => name.startsWith('stdin'))).toEqual([]);
});

test('one of two collectors takes over from a killed one', async () => {
  const folder = temporaryFolder();
  const mark = join(folder, 'running');
  writeFileSync(mark, '999999999');
  utimesSync(mark, 0, 0);
  const module = join(PACKAGE_ROOT, 'dist', 'disk', 'only-one.js');
  const script = `const { OnlyOne } = await import(${JSON.stringify(module)}); console.log(OnlyOne.at(${JSON.stringify(mark)}, 900_000, Date.now) !== undefined); setTimeout(() => {}, 600_000)`;
  const run = (env: Record<string, string> = {}) =>
    start([], { program: ['node', '--input-type=module', '-e', script], env });
  const held = heldBack({ call: 'renameSync', ending: 'running' });
  const slow = run(held.env);
  await held.reached();
  const says = async (child: ReturnType<typeof run>) => {
    const [chunk] = await once(child.stdout ?? child, 'data');
    return String(chunk).trim();
  };
  expect(await says(run())).toBe('true');
  held.goOn();
  expect(await says(slow)).toBe('false');
  expect(readdirSync(folder)).toEqual(['running']);
});

test.runIf(process.getuid?.() === 0)(
  'commands reach a service whose data folder is of another user',
  async () => {
    const data = newData();
    await ingest(data, 'acme', 1);
    chownSync(data, 12_345, 12_345);
    await served(data);
    expect(await eventsIn(data)).toEqual({ acme: 1 });
  },
);

test.runIf(process.platform === 'linux')(
  'commands reach a service whose data folder has a long path, wherever its temporary files are',
  async () => {
    const data = join(temporaryFolder(), 'データ'.repeat(12), 'data');
    const { child } = await served(data);
    expect(await daybook(['--data', data, 'status'], { env: { TMPDIR: temporaryFolder() } })).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect(existsSync(join(data, 'daybook.sock'))).toBe(true);
    child.kill('SIGTERM');
    await once(child, 'close');
    expect(existsSync(join(data, 'daybook.sock'))).toBe(false);
  },
);

test('a build that a service does ends once SQL reads what it has built', async () => {
  const data = newData();
  const held = heldBack({ call: 'rename', ending: '_snapshot.json' });
  start(['--data', data, 'serve', '--port', '0'], { env: { ...held.env, DAYBOOK_BUILD_AT: 'off' } });
  await until(() => isServed(data));
  const taken = await daybook(['--data', data, 'ingest', '--org', 'acme', '-'], {
    input: `${JSON.stringify(event('1', { timestamp: `${addDays(TODAY, -1)}T00:00:00Z` }))}\n`,
  });
  expect(taken.code).toBe(0);
  let isOver = false;
  const building = daybook(['--data', data, 'build']).finally(() => {
    isOver = true;
  });
  await held.reached();
  await wait(1000);
  expect(isOver).toBe(false);
  held.goOn();
  expect(await building).toMatchObject({ code: 0, stderr: '' });
  const { stdout } = await daybook([
    '--data',
    data,
    'sql',
    '--format',
    'json',
    'SELECT event_id FROM events',
  ]);
  expect(JSON.parse(stdout)).toEqual([{ event_id: '1' }]);
});
