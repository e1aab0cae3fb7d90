import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EventMapper } from '../../src/collect/event-mapper.js';
import { ingest } from '../../src/ingest/ingest-files.js';
import { inputFiles } from '../../src/ingest/input-files.js';
import { CANONICAL, CLAUDE_CODE, type Source } from '../../src/ingest/source.js';
import { isWholeJson, mended, PARTS_AT_MOST, shapeOf } from '../../src/store/mended-line.js';
import { NOW, World } from '../world.js';

const record = (id: number, text = 'ok', more: object = {}) =>
  JSON.stringify({
    parentUuid: null,
    type: 'assistant',
    uuid: `a${id}`,
    timestamp: '2026-06-10T10:00:00.000Z',
    sessionId: 's-1',
    message: { id: `msg_${id}`, model: 'claude-opus-4-6', content: [{ type: 'text', text }] },
    ...more,
  });

const SHAPE = shapeOf([record(1), record(2)]);

describe('a line that is no JSON', () => {
  const [one, two, three] = [record(3), record(4, 'two'), record(5, 'a "quoted" {"type":"text"} text')];
  test.each<[what: string, line: string, records: string[]]>([
    ['two records', one + two, [one, two]],
    ['three records with NULs between them', `${one}\0\0${two} \0${three}`, [one, two, three]],
    ['NULs before a record', `\0\0\0${one}`, [one]],
    ['a record that was cut between members', one.slice(0, 60) + two, [two]],
    ['a record that was cut in a text', three.slice(0, three.indexOf('quoted')) + two + one, [two, one]],
    ['a record that was cut behind an object', one.slice(0, one.lastIndexOf(']')) + two, [two]],
    ['a record before one that was cut', one + two.slice(0, -1), [one]],
    ['half a pair', one.replace('ok', String.raw`\ud83d`), [one.replace('ok', String.raw`\ufffd`)]],
    [
      'half a pair beside a whole one and what only looks like one',
      one.replace('ok', String.raw`\uD83D\uDE00 \ude00 \\ud83d`),
      [one.replace('ok', String.raw`\uD83D\uDE00 \ufffd \\ud83d`)],
    ],
    ['nothing but a record that was cut', one.slice(0, -1), []],
    ['a record that was cut behind an object within it', one.slice(0, one.lastIndexOf(']')), []],
    ['nothing', 'nonsense', []],
  ])('with %s gives the records that are whole', (_, line, records) => {
    expect(isWholeJson(line)).toBe(false);
    expect(mended(line, SHAPE)).toEqual(records);
  });

  test('has at most so many records', () => {
    expect(mended(one.repeat(PARTS_AT_MOST + 5), SHAPE)).toHaveLength(PARTS_AT_MOST);
  });
});

describe('a file with such lines', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.create({}, afterAll);
    for (const name of ['mended', 'laptop', 'canonical']) mkdirSync(join(world.folder, name));
  });

  const settle = (path: string, orgId: string, source: Source = CLAUDE_CODE) =>
    ingest(
      world.store,
      { orgId, userId: 'ada', source, files: inputFiles([dirname(path)], source) },
      () => NOW,
    );

  test('counts its records, and says how many lines were mended and where the others are', async () => {
    const path = world.file(
      'mended/s-1.jsonl',
      `${record(1)}\n\n${record(2)}${record(3)}\nnonsense\n${record(4).replace('ok', String.raw`\ud83d`)}\n${record(5)}\n`,
    );
    world.file('mended/s-2.jsonl', `${record(6, 'ok', { sessionId: 's-2' })}\n`);
    const settled = await settle(path, 'mended');
    expect(settled).toMatchObject({ accepted: 6, mended: 2, rejected: 1, examples: [{ line_no: 4 }] });
    const kept =
      'SELECT CAST(day AS VARCHAR) AS day, CAST(line_no AS INTEGER) AS line_no FROM mended_lines ORDER BY line_no';
    const lines = [
      { day: '2026-06-10', line_no: 3 },
      { day: '2026-06-10', line_no: 5 },
    ];
    expect(await world.store.select(kept)).toEqual(lines);
    // A file that has grown has the same lines.
    appendFileSync(path, `${record(7)}\n`);
    expect(await settle(path, 'mended')).toMatchObject({ accepted: 1, mended: 2, rejected: 1 });
    expect(await world.store.select(kept)).toEqual(lines);
    const [quality] = await world.store.select(
      "SELECT CAST(mended AS INTEGER) AS mended, CAST(rejected AS INTEGER) AS rejected FROM day_quality WHERE org_id = 'mended' AND day = DATE '2026-06-10'",
    );
    expect(quality).toMatchObject({ mended: 2 });
  });

  test('is mended on a laptop too', async () => {
    const path = world.file('laptop/s-1.jsonl', `${record(1)}${record(2)}\n${record(3)}\nnonsense\n`);
    const mapper = await EventMapper.open(join(world.folder, 'laptop'));
    const files = inputFiles([path], CLAUDE_CODE).map((file) => ({ ...file, since: undefined }));
    const { events, rejected } = await mapper.map(CLAUDE_CODE, files, 'ada', NOW);
    await mapper.close();
    expect([events.length, rejected]).toEqual([3, 1]);
  });

  test('is not mended if it was written for Daybook', async () => {
    const event = (event_id: string) =>
      JSON.stringify({
        ...{ event_id, type: 'user_message', timestamp: '2026-06-10T10:00:00Z' },
        ...{ user_id: 'ada', session_id: 's-1' },
      });
    const path = world.file('canonical/a.ndjson', `${event('1')}${event('2')}\n${event('3')}\n`);
    const settled = await settle(path, 'canonical', CANONICAL);
    expect(settled).toMatchObject({ accepted: 1, mended: 0, rejected: 1, byReason: { not_json: 1 } });
  });
});
