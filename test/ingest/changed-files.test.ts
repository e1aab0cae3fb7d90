import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, truncateSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { batchesOf } from '../../src/ingest/changed-files.js';
import { ingest as ingestFiles } from '../../src/ingest/ingest-files.js';
import { inputFiles } from '../../src/ingest/input-files.js';
import { CANONICAL, CLAUDE_CODE, type Source } from '../../src/ingest/source.js';
import { NOW, World } from '../world.js';

let world: World;
beforeAll(async () => {
  world = await World.create({}, afterAll);
});

/** Each test has files and an organization of its own. */
let folder: string;
let orgId: string;
let tests = 0;
beforeEach(() => {
  tests += 1;
  orgId = `acme-${tests}`;
  folder = join(world.folder, orgId);
  mkdirSync(folder);
});

/** Ingests a folder as the command does, and answers how many files were read and weren't, and what came of it. */
async function ingest(
  source: Source = CANONICAL,
  more: { orgId?: string; userId?: string; now?: number } = {},
) {
  const request = { orgId, source, files: inputFiles([folder], source), ...more };
  const { files, unchanged, accepted, duplicates } = await ingestFiles(
    world.store,
    request,
    () => more.now ?? NOW,
  );
  return { files, unchanged, accepted, duplicates };
}

const file = (name: string, content: string) => world.file(join(orgId, name), content);
const turn = (id: string, more: object = {}) =>
  `${JSON.stringify({ event_id: id, type: 'user_message', timestamp: '2026-06-01T10:00:00Z', user_id: 'ada', session_id: 's-1', ...more })}\n`;

describe('a folder that is ingested again', () => {
  test('is not read as long as nothing changes', async () => {
    file('one.ndjson', turn('1'));
    file('two.ndjson', turn('2'));
    expect(await ingest()).toEqual({ files: 2, unchanged: 0, accepted: 2, duplicates: 0 });
    expect(await ingest()).toEqual({ files: 0, unchanged: 2, accepted: 0, duplicates: 0 });
  });

  test('has the new lines of a file that has grown, and new files, and nothing of those that are gone', async () => {
    const grown = file('grown.ndjson', turn('1'));
    file('gone.ndjson', turn('2'));
    file('same.ndjson', turn('3'));
    await ingest();
    appendFileSync(grown, turn('4'));
    file('new.ndjson', turn('5'));
    rmSync(join(folder, 'gone.ndjson'));
    expect(await ingest()).toEqual({ files: 2, unchanged: 1, accepted: 2, duplicates: 1 });
    expect(await ingest()).toEqual({ files: 0, unchanged: 3, accepted: 0, duplicates: 0 });
  });

  test('reads a file that was cut off, and one that took its place, also of the same size and time', async () => {
    const path = file('one.ndjson', turn('1') + turn('2'));
    await ingest();
    truncateSync(path, turn('1').length);
    expect(await ingest()).toMatchObject({ files: 1, accepted: 0, duplicates: 1 });
    // What differs is farther from the end than is looked at.
    const blanks = `${' '.repeat(5000)}\n`;
    for (const id of ['3', '4']) {
      file('one.ndjson', turn(id) + blanks);
      utimesSync(path, NOW / 1000, NOW / 1000);
      expect(await ingest()).toMatchObject({ files: 1, accepted: 1 });
    }
  });

  test('reads copies of files, which count as what they are', async () => {
    file('one.ndjson', turn('1'));
    await ingest();
    cpSync(join(folder, 'one.ndjson'), join(folder, 'copy.ndjson'), { preserveTimestamps: true });
    expect(await ingest()).toEqual({ files: 1, unchanged: 1, accepted: 0, duplicates: 1 });
  });

  test('reads a file again that had rejected lines: one in the future is accepted then', async () => {
    file('clock.ndjson', turn('1', { timestamp: '2027-06-01T10:00:00Z' }));
    file('right.ndjson', turn('2'));
    const later = { now: Date.UTC(2027, 6) };
    expect(await ingest()).toMatchObject({ files: 2, accepted: 1 });
    expect(await ingest(CANONICAL, later)).toMatchObject({ files: 1, unchanged: 1, accepted: 1 });
    expect(await ingest(CANONICAL, later)).toMatchObject({ files: 0, unchanged: 2 });
  });

  test('is read for each organization, user and source', async () => {
    const line = { type: 'user', uuid: 'u-1', sessionId: 's-1', timestamp: '2026-06-01T10:00:00Z' };
    file('one.jsonl', `${JSON.stringify({ ...line, message: { content: 'Hello' } })}\n`);
    expect(await ingest(CLAUDE_CODE, { userId: 'ada' })).toMatchObject({ files: 1, accepted: 1 });
    expect(await ingest(CLAUDE_CODE, { userId: 'ada', orgId: `${orgId}-2` })).toMatchObject({ accepted: 1 });
    expect(await ingest(CLAUDE_CODE, { userId: 'grace' })).toMatchObject({ files: 1 });
    expect(await ingest()).toMatchObject({ files: 1, accepted: 0 });
    for (const userId of ['ada', 'grace'])
      expect(await ingest(CLAUDE_CODE, { userId })).toMatchObject({ files: 0, unchanged: 1 });
  });

  test('is not read again for comments in the SQL of its source, but for what it computes', async () => {
    const copy = (name: string, change: (sql: string) => string) => {
      const sql = join(world.folder, `${orgId}-${name}`);
      cpSync(CLAUDE_CODE.sql, sql, { recursive: true });
      world.file(join(`${orgId}-${name}`, 'events.sql'), change(EVENTS));
      return { ...CLAUDE_CODE, sql };
    };
    const EVENTS = readFileSync(join(CLAUDE_CODE.sql, 'events.sql'), 'utf8');
    file('one.jsonl', '{}\n');
    const as = { userId: 'ada' };
    expect(await ingest(CLAUDE_CODE, as)).toMatchObject({ files: 1 });
    const commented = copy('commented', (sql) => `-- It's new.\n${sql.replaceAll('\nFROM ', '\n\n  FROM ')}`);
    expect(await ingest(commented, as)).toMatchObject({ files: 0 });
    const changed = copy('changed', (sql) => sql.replace("'claude-code' AS agent", "'claude' AS agent"));
    expect(await ingest(changed, as)).toMatchObject({ files: 1 });
    expect(await ingest(CLAUDE_CODE, as)).toMatchObject({ files: 1 });
  });

  test('reads a file again when one beside it has changed that says more of it', async () => {
    const source = { ...CANONICAL, sideFiles: ['.meta.json'], files: /\.ndjson$/ };
    file('one.ndjson', turn('1'));
    expect(await ingest(source)).toMatchObject({ files: 1 });
    file('one.meta.json', '{}');
    expect(await ingest(source)).toMatchObject({ files: 1 });
    expect(await ingest(source)).toMatchObject({ files: 0 });
  });
});

describe('a sub-agent has the permission mode of its session', () => {
  const AT = '2026-06-01T10:00:0';
  const line = (uuid: string, second: number, more: object) =>
    `${JSON.stringify({ uuid, sessionId: 's-1', timestamp: `${AT}${second}Z`, ...more })}\n`;
  const prompt = (second: number, permissionMode: string) =>
    line(`u-${second}`, second, { type: 'user', permissionMode, message: { content: 'Hello' } });
  const answer = (second: number) => {
    const id = `a-${second}`;
    return line(id, second, {
      type: 'assistant',
      isSidechain: true,
      message: { id, model: 'm', content: [] },
    });
  };
  const modes = async () => {
    const rows = await world.store.select(
      `SELECT event_id, autonomy_mode FROM events
      WHERE org_id = $org_id AND type = 'assistant_message' ORDER BY event_id`,
      { org_id: orgId },
    );
    return rows.map(({ event_id, autonomy_mode }) => [event_id, autonomy_mode]);
  };
  const ada = { userId: 'ada' };
  beforeEach(() => mkdirSync(join(folder, 's-1', 'subagents'), { recursive: true }));
  const subAgent = (content: string) => file(join('s-1', 'subagents', 'agent-1.jsonl'), content);

  test('when it goes on, and of no other file', async () => {
    file('s-1.jsonl', prompt(1, 'plan') + prompt(5, 'plan'));
    file('s-2.jsonl', line('u-2', 1, { type: 'user', message: { content: 'Hello' } }));
    const path = subAgent(answer(2));
    await ingest(CLAUDE_CODE, ada);
    appendFileSync(path, answer(3));
    expect(await ingest(CLAUDE_CODE, ada)).toMatchObject({ files: 2, unchanged: 1 });
    expect(await modes()).toEqual([
      ['message:a-2', 'spec'],
      ['message:a-3', 'spec'],
    ]);
  });

  test('when the file of the session comes later, and as far as it goes', async () => {
    subAgent(answer(2) + answer(4));
    await ingest(CLAUDE_CODE, ada);
    expect(await modes()).toEqual([
      ['message:a-2', null],
      ['message:a-4', null],
    ]);
    file(
      's-1.jsonl',
      prompt(1, 'acceptEdits') + line('u-2', 2, { type: 'user', message: { content: 'Hello' } }),
    );
    await ingest(CLAUDE_CODE, ada);
    expect(await modes()).toEqual([
      ['message:a-2', 'auto-low'],
      ['message:a-4', null],
    ]);
    appendFileSync(join(folder, 's-1.jsonl'), prompt(3, 'plan') + prompt(5, 'plan'));
    await ingest(CLAUDE_CODE, ada);
    expect(await modes()).toEqual([
      ['message:a-2', 'auto-low'],
      ['message:a-4', 'spec'],
    ]);
  });
});

test('files that the SQL must see together are read together, however many fit', () => {
  const paths = ['/p/s-1.jsonl', '/p/s-1/subagents/a.jsonl', '/p/s-1/subagents/b.jsonl', '/p/s-2.jsonl'];
  const files = paths.map((path) => ({ path, size: 10, state: 'x' }));
  const batches = (changed: readonly string[]) =>
    [
      ...batchesOf(
        CLAUDE_CODE,
        files.filter(({ path }) => changed.includes(path)),
        files,
        { bytes: 10 },
      ),
    ].map((batch) => batch.map(({ path }) => path));
  expect(batches(paths)).toEqual([paths.slice(0, 3), paths.slice(3)]);
  expect(batches(paths.slice(1, 2))).toEqual([paths.slice(0, 2)]);
  expect(batches([])).toEqual([]);
});
