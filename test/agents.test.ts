import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { MEMBERS } from '../src/ingest/event-members.js';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { type AgentCase, casesOf, documentsIn, sources, write } from './agent-cases.js';
import { expectSameHoweverGrown, type GrownFile } from './grown-files.js';
import { expectNoText } from './private-text.js';
import { ending, World } from './world.js';

/** Rows as lines: the members of some names that have a value, in the order of the names. */
function linesOf(rows: readonly Record<string, unknown>[], names: readonly string[]): string {
  const told = (row: Record<string, unknown>) =>
    names.flatMap((name) => (row[name] === null || row[name] === undefined ? [] : [[name, row[name]]]));
  return rows.map((row) => `${JSON.stringify(Object.fromEntries(told(row)))}\n`).join('');
}

/** Files as expectSameHoweverGrown takes them. A file that the agent writes again has several contents. */
function grownFiles({ states, files }: AgentCase, isReplayed: boolean): GrownFile[] {
  return [...files].map(([name, content]) => {
    // A log of changes has no line twice, and one without a line is another: it is only read while it grows, also within a line.
    if (isReplayed && name.endsWith('.jsonl')) {
      const ends = [...content.matchAll(/\n/g)].flatMap(({ index }) => [index - 9, index + 1]);
      return { name, versions: ends.map((end) => content.slice(0, end)) };
    }
    const versions = states.flatMap((state) => state.get(name) ?? []);
    return name.endsWith('.jsonl') && versions.length === 1
      ? { name, lines: content.trimEnd().split('\n') }
      : { name, versions };
  });
}

describe.each(sources.map((source) => [source.name, source] as const))('%s', (_, source) => {
  const cases = casesOf(source);
  const atEnd = ending();
  let world: World;
  beforeAll(async () => {
    world = await World.create({}, atEnd);
  });

  const folderOf = (orgId: string) => join(world.folder, orgId);
  const pathsIn = (folder: string) => inputFiles([folder], source).map(({ path }) => path);
  /** Some sources join files, so each reading has the files of those before it. */
  const growing = (paths: string[]) => paths.map((_, index) => paths.slice(0, index + 1));
  const packed = ({ name, files }: AgentCase) =>
    [...files].map(([file, content]) =>
      source.files.test(`/${file}`)
        ? ([join(name, `${file}.gz`), gzipSync(content)] as const)
        : ([join(name, file), content] as const),
    );

  const eventsOf = async (orgId: string) => {
    const rows = await world.store.select(
      'SELECT * FROM events WHERE org_id = $org_id ORDER BY occurred_at, event_id',
      { org_id: orgId },
    );
    const timed = rows.map((row) => ({ ...row, timestamp: new Date(Number(row.occurred_at)).toISOString() }));
    return linesOf(
      timed,
      Object.keys(MEMBERS).filter((name) => name !== 'org_id'),
    );
  };

  const rejectsOf = async (orgId: string) => {
    const rows = await world.store.select(
      'SELECT * FROM rejects WHERE org_id = $org_id ORDER BY source, line_no, detail',
      { org_id: orgId },
    );
    const named = rows.map((row) => ({ ...row, file: relative(folderOf(orgId), String(row.source)) }));
    return linesOf(named, ['file', 'line_no', 'reason', 'detail', 'line']);
  };

  /** Reads files whether they were read before or not. */
  const read = async (orgId: string, paths: readonly string[]) =>
    expect(await world.ingest(paths, { orgId, source, userId: 'ada' })).toMatchObject({ leftOut: [] });

  const played = new Map<string, Promise<string>>();

  /** The events of a case, whose folder is read as the command reads it, once for each state. */
  const play = ({ name, states }: AgentCase): Promise<string> => {
    const reading = async () => {
      for (const files of states) {
        write(folderOf(name), files);
        const request = { orgId: name, source, userId: 'ada', files: inputFiles([folderOf(name)], source) };
        expect(await ingest(world.store, request, world.clock)).toMatchObject({ leftOut: [] });
      }
      return eventsOf(name);
    };
    const events = played.get(name) ?? reading();
    played.set(name, events);
    return events;
  };

  test.each(cases.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    const events = await play(one);
    await expect(events + (await rejectsOf(one.name))).toMatchFileSnapshot(join(one.folder, 'expect.ndjson'));

    const paths = pathsIn(folderOf(one.name));
    const orders: Record<string, string[][]> = {};
    if (one.states.length > 1) orders['at-once'] = [paths];
    if (paths.length > 1) {
      write(folderOf('packed'), packed(one));
      orders['first-file-first'] = [paths.slice(0, 1), paths, pathsIn(join(folderOf('packed'), one.name))];
      orders.backwards = growing(paths.toReversed());
    }
    for (const [order, readings] of Object.entries(orders)) {
      for (const some of readings) await read(`${one.name}.${order}`, some);
      expect(await eventsOf(`${one.name}.${order}`), order).toBe(events);
    }

    const names = readdirSync(one.folder).filter((name) => !/^files(-\d)?$|^expect\.ndjson$/.test(name));
    expect(names).toEqual(['README.md']);
  });

  test('sessions give the same however they grew', async () => {
    const whole = cases.filter(({ name }) => name === 'whole-session');
    expect(whole).toHaveLength(1);
    for (const one of whole)
      await expectSameHoweverGrown(world, source, grownFiles(one, source.replay !== undefined));
  });

  test('of a bad line only its place is kept, and the lines around it count', async () => {
    for (const one of cases) await play(one);
    expect(await world.store.select('SELECT * FROM rejects WHERE line IS NOT NULL')).toEqual([]);
  });

  test('no text of prompts, answers, files and outputs is stored', async () => {
    for (const one of cases) await play(one);
    await world.build();
    const contents = cases.flatMap(({ states }) => states.flatMap((files) => [...files.values()]));
    const names = await world.store.select(
      // An id of a call can stand in a sub-agent's messages alone, which are text as a whole.
      `SELECT path AS name FROM events UNION SELECT tool_name FROM events UNION SELECT request_id FROM events UNION SELECT model FROM events
      UNION SELECT regexp_extract(event_id, ':(call_\\w+)', 1) FROM events`,
    );
    const allowed = names.flatMap(({ name }) => (name === null || name === '' ? [] : [String(name)]));
    await expectNoText(world, documentsIn(contents), allowed);
  });
});
