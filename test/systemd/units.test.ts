import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { scheduleOf } from '../../src/collect/schedule.js';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { falseServer, Laptop } from '../laptop.js';
import { CLI, daybook, ended, start } from '../program.js';
import { event, lines, temporaryFolder } from '../world.js';

const FOLDER = join(PACKAGE_ROOT, 'docs', 'systemd');
const CONFINE = join(PACKAGE_ROOT, 'test', 'systemd', 'confine.py');
const SERVICES = readdirSync(FOLDER).filter((name) => name.endsWith('.service'));

/** The unit that "daybook collect install" writes. */
function collectUnit(): string {
  const job = { program: ['/usr/bin/node', 'cli.js', 'collect'], environment: {}, everyMinutes: 5 };
  const texts = Object.entries(scheduleOf('systemd', job, '').files);
  const [, text = ''] = texts.find(([path]) => path.endsWith('.service')) ?? [];
  const path = join(temporaryFolder(), 'daybook-collect.service');
  writeFileSync(path, text);
  return path;
}

const works = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
const hasAnalyze = works('systemd-analyze', '--version');
const canConfine = hasAnalyze && works('python3', CONFINE, join(FOLDER, 'daybook.service'), 'true');

/** How exposed a unit is, from 0 to 10. */
function exposureOf(path: string, ...more: string[]): number {
  const { stdout } = spawnSync(
    'systemd-analyze',
    ['security', '--offline=true', '--no-pager', ...more, path],
    {
      env: { ...process.env, XDG_RUNTIME_DIR: temporaryFolder() },
      encoding: 'utf8',
    },
  );
  return Number(/exposure level for \S+: (\d+\.\d)/.exec(stdout)?.[1] ?? Number.NaN);
}

describe('the units for systemd', () => {
  test('keep what is written to its owner, write no memory to disk, and leave memory to the machine', () => {
    expect(SERVICES).toEqual(['daybook-build.service', 'daybook.service']);
    for (const path of [...SERVICES.map((name) => join(FOLDER, name)), collectUnit()]) {
      const text = readFileSync(path, 'utf8');
      for (const line of ['UMask=0077', 'LimitCORE=0', 'MemoryMax=80%', 'NoNewPrivileges=true'])
        expect(text, path).toContain(`\n${line}\n`);
      // V8 couldn't compile JavaScript.
      expect(text, path).not.toContain('MemoryDenyWriteExecute=');
    }
  });

  test.skipIf(!hasAnalyze)('are exposed to little, as systemd judges them', () => {
    for (const name of SERVICES) {
      const exposure = exposureOf(join(FOLDER, name));
      expect(exposure, name).toBeLessThanOrEqual(4);
    }
    // Most of the rest is what the systemd of a user can't take away.
    expect(exposureOf(collectUnit(), '--user')).toBeLessThanOrEqual(6.5);
  });

  test.skipIf(!canConfine)('let the service receive, build and query events', async () => {
    const data = temporaryFolder();
    const program = ['python3', CONFINE, join(FOLDER, 'daybook.service'), 'node', CLI];
    const env = { DAYBOOK_DATA: data, DAYBOOK_BUILD_AT: 'off', DAYBOOK_LOG_LEVEL: 'warn' };
    const service = start(['serve', '--port', '0', '--host', '0.0.0.0'], { program, env });
    const url = await new Promise<string>((resolve, reject) => {
      let text = '';
      const hear = (part: Buffer) => {
        text += part;
        const [, port] = /Daybook serves on http:\S+:(\d+)/.exec(text) ?? [];
        if (port !== undefined) resolve(`http://localhost:${port}`);
      };
      service.stdout?.on('data', hear);
      service.stderr?.on('data', hear);
      service.once('exit', () => reject(new Error(text)));
    });
    const created = await daybook(['keys', 'create', '--org', 'acme', '--role', 'owner', '--json'], { env });
    const { key } = JSON.parse(created.stdout);
    const headers = { authorization: `Bearer ${key}` };
    const at = new Date(Date.now() - 3 * 86_400_000).toISOString();
    const sent = await fetch(`${url}/api/v1/events`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
      body: lines([event('1', { timestamp: at })]),
    });
    expect(sent.status).toBe(200);
    const unit = join(FOLDER, 'daybook-build.service');
    const built = await ended(start(['build'], { program: ['python3', CONFINE, unit, 'node', CLI], env }));
    expect(built).toMatchObject({ code: 0, stderr: '' });
    const asked = await fetch(`${url}/api/v1/sql`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ sql: 'SELECT event_id FROM events' }),
    });
    expect(await asked.json()).toMatchObject({ data: [{ event_id: '1' }] });
    // What the service removes meanwhile is in folders, which are looked at when it has ended.
    const modes = (names: readonly string[]) => {
      for (const name of names)
        expect((statSync(join(data, name), { throwIfNoEntry: false })?.mode ?? 0) & 0o077, name).toBe(0);
    };
    modes(readdirSync(data));
    service.removeAllListeners('exit');
    service.kill('SIGTERM');
    expect(await ended(service)).toMatchObject({ code: 0 });
    modes(readdirSync(data, { recursive: true, encoding: 'utf8' }));
    const again = ['build', '--all'];
    expect(
      await ended(start(again, { program: ['python3', CONFINE, unit, 'node', CLI], env })),
    ).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  test.skipIf(!canConfine)('let events be collected', async () => {
    const server = await falseServer(() => undefined);
    const laptop = new Laptop('ada').work();
    const program = ['python3', CONFINE, collectUnit(), 'node', CLI];
    const env = { HOME: laptop.home, DAYBOOK_KEY: 'k' };
    const collected = await ended(start(['collect', '--server', server.url], { program, env }));
    expect(collected).toMatchObject({ code: 0, stderr: '' });
    expect(server.got.length).toBeGreaterThan(0);
  });
});
