import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import type { Source } from '../../src/ingest/source.js';
import { World } from '../world.js';

/** Sources of these tests: an entry and a folder of SQL, and nothing else of Daybook knows them. */
const folder = (name: string) => join(PACKAGE_ROOT, 'test', 'ingest', 'source', name);

/** Lines whose order matters: a total counts up, and a model stays until the next. The session is in a file beside. */
const ODOMETER: Source = {
  name: 'odometer',
  title: 'odometer readings',
  sql: folder('odometer'),
  files: /\/odometer\/[^/]+\.jsonl$/,
  folders: [],
  unit: 'line',
  isOrdered: true,
  limitMb: 1,
  sideFiles: ['.meta.json'],
  namesUsers: false,
  namesRepos: true,
};

/** Whole documents. */
const DIARY: Source = {
  name: 'diary',
  title: 'diaries',
  sql: folder('diary'),
  files: /\.json$/,
  folders: [],
  unit: 'document',
  limitMb: 1,
  namesUsers: false,
  namesRepos: true,
};

/** Diaries among lines that are diaries. */
const SHELF: Source = { ...DIARY, name: 'shelf', files: /\.jsonl?$/, unit: 'line', documents: /\.json$/ };

let world: World;
beforeAll(async () => {
  world = await World.create({}, afterAll);
});

let organizations = 0;

/** Writes files below a folder of their own, and ingests that for a new organization. */
async function ingest(source: Source, files: Record<string, string | Uint8Array>) {
  organizations += 1;
  const orgId = `acme-${organizations}`;
  const root = join(world.folder, orgId, source.name);
  mkdirSync(root, { recursive: true });
  for (const [name, content] of Object.entries(files)) world.file(join(orgId, source.name, name), content);
  const { accepted, rejected, examples } = await world.ingest([join(world.folder, orgId)], {
    orgId,
    source,
    userId: 'ada',
  });
  const events = await world.store.select(
    'SELECT event_id, user_id, session_id, model, input_tokens FROM events WHERE org_id = $org_id ORDER BY event_id',
    { org_id: orgId },
  );
  return { accepted, rejected, examples, events };
}

/** Answers a to c of a session. Two have the same time, so that only their order tells which came first. */
const READINGS = [
  { kind: 'model', name: 'small' },
  { kind: 'answer', at: '2026-05-01T10:00:00Z', name: 'a', total: 100 },
  { kind: 'model', name: 'large' },
  { kind: 'answer', at: '2026-05-01T10:00:00Z', name: 'b', total: 250 },
  { kind: 'answer', at: '2026-05-01T10:00:00Z', name: 'c', total: 251 },
];
const ada = { user_id: 'ada', session_id: 's-1' };
const ANSWERS = [
  { ...ada, event_id: 'usage:a', model: 'small', input_tokens: 100 },
  { ...ada, event_id: 'usage:b', model: 'large', input_tokens: 150 },
  { ...ada, event_id: 'usage:c', model: 'large', input_tokens: 1 },
];
const linesOf = (rows: readonly (object | string)[]) =>
  rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');
const BESIDE = { 'one.meta.json': '{"session": "s-1"}' };

test('a source reads lines in their order, and what stands in a file beside', async () => {
  const { accepted, rejected, events } = await ingest(ODOMETER, {
    'one.jsonl': linesOf(READINGS),
    ...BESIDE,
  });
  expect({ accepted, rejected, events }).toEqual({ accepted: 3, rejected: 0, events: ANSWERS });
});

test('its lines have the same order where some have faults, and where the file is compressed', async () => {
  const faulty = [{ kind: 'answer', at: '2026-05-01T10:00:00Z', total: 0 }, 'no JSON', ...READINGS];
  const { accepted, examples, events } = await ingest(ODOMETER, { 'one.jsonl': linesOf(faulty), ...BESIDE });
  expect({ accepted, events }).toEqual({ accepted: 3, events: ANSWERS });
  expect(examples.map(({ line_no, reason }) => ({ line_no, reason }))).toEqual([
    { line_no: 1, reason: 'missing_member' },
    { line_no: 2, reason: 'not_json' },
  ]);
  const packed = await ingest(ODOMETER, { 'one.jsonl.gz': gzipSync(linesOf(READINGS)), ...BESIDE });
  expect(packed.events).toEqual(ANSWERS);
});

test('its lines have their order in a file that is read in several parts', async () => {
  const padding = 'x'.repeat(900_000);
  const readings = Array.from({ length: 80 }, (_, at) => ({
    kind: 'answer',
    at: '2026-05-01T10:00:00Z',
    name: String(at).padStart(3, '0'),
    total: (at + 1) * (at + 2),
    padding,
  }));
  const { events } = await ingest(ODOMETER, {
    'one.jsonl': linesOf([{ kind: 'model', name: 'small' }, ...readings]),
    ...BESIDE,
  });
  expect(events.map((event) => event.input_tokens)).toEqual(readings.map((_, at) => 2 * (at + 1)));
});

test('a file beside that is no JSON is as good as none', async () => {
  const { accepted, examples } = await ingest(ODOMETER, {
    'one.jsonl': linesOf(READINGS),
    'one.meta.json': Buffer.from([0xff, 0xfe]),
  });
  expect({ accepted, detail: examples[0]?.detail }).toEqual({
    accepted: 0,
    detail: 'session_id is required.',
  });
});

const ENTRIES = { session: 's-2', entries: ['a', 'b'].map((id) => ({ id, at: '2026-05-01T10:00:00Z' })) };
const pretty = JSON.stringify(ENTRIES, null, 2);
const TURNS = ['turn:a', 'turn:b'];

test('a source reads whole documents, however they are laid out', async () => {
  const { accepted, rejected, events } = await ingest(DIARY, { 'one.json': pretty });
  expect({ accepted, rejected }).toEqual({ accepted: 2, rejected: 0 });
  expect(events.map(({ event_id }) => event_id)).toEqual(TURNS);
  const packed = await ingest(DIARY, { 'one.json.gz': gzipSync(pretty) });
  expect(packed.events.map(({ event_id }) => event_id)).toEqual(TURNS);
});

test('a document that is damaged or too long is rejected, and the others are read', async () => {
  const { accepted, examples } = await ingest(DIARY, {
    'cut.json': pretty.slice(0, -10),
    'long.json': JSON.stringify({ ...ENTRIES, padding: 'x'.repeat(1 << 20) }),
    'marked.json': `\uFEFF${pretty}`,
    'text.json': Buffer.from([0xff, 0xfe]),
  });
  expect(accepted).toBe(2);
  expect(examples.map(({ source, detail }) => [source.split('/').at(-1), detail])).toEqual([
    ['cut.json', 'The document must be JSON in UTF-8.'],
    ['long.json', 'The document must be at most 1 MiB long.'],
    ['text.json', 'The document must be JSON in UTF-8.'],
  ]);
});

const diary = (session: string) =>
  JSON.stringify({ session, entries: [{ id: session, at: '2026-05-01T10:00:00Z' }] }, null, 2);
const flat = (document: string) => `${JSON.stringify(JSON.parse(document))}\n`;

test('a source reads documents and lines, and knows whose each file is', async () => {
  const contents = {
    'ada.jsonl': flat(diary('a-1')) + flat(diary('a-2')),
    'bob.json': diary('b'),
    'cyd.jsonl': flat(diary('c')),
  };
  const settled = await world.store.settle({
    source: SHELF,
    files: Object.entries(contents).map(([name, content]) => ({
      path: world.file(name, content),
      name,
      orgId: 'shelves',
      userId: name.slice(0, 3),
      receivedAt: world.now,
    })),
    settledAt: world.now,
  });
  expect(settled).toMatchObject({ accepted: 4, rejected: 0 });
  const events = await world.store.select(
    "SELECT user_id, session_id FROM events WHERE org_id = 'shelves' ORDER BY session_id",
    {},
  );
  expect(events.map(({ user_id, session_id }) => [user_id, session_id])).toEqual([
    ['ada', 'a-1'],
    ['ada', 'a-2'],
    ['bob', 'b'],
    ['cyd', 'c'],
  ]);
});

test('a damaged document among lines is rejected as a document, and a line as a line', async () => {
  const { examples, events } = await ingest(SHELF, {
    'a.jsonl': flat(diary('a')),
    'b.json': diary('b').slice(0, -10),
    'c.jsonl': `${flat(diary('c'))}no JSON`,
    'd.json.gz': gzipSync(diary('d')),
  });
  expect(events.map(({ session_id }) => session_id)).toEqual(['a', 'c', 'd']);
  expect(examples.map(({ source, line_no, detail }) => [source.split('/').at(-1), line_no, detail])).toEqual([
    ['b.json', 1, 'The document must be JSON in UTF-8.'],
    ['c.jsonl', 2, 'The line must be one JSON document in UTF-8.'],
  ]);
});
