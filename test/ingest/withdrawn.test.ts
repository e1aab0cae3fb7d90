import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ingest as ingestFiles } from '../../src/ingest/ingest-files.js';
import { inputFiles } from '../../src/ingest/input-files.js';
import { CLAUDE_CODE, CODEX, OPENCODE, type Source } from '../../src/ingest/source.js';
import { columnNames } from '../../src/store/tables.js';
import { casesOf, write } from '../agent-cases.js';
import { NOW, World } from '../world.js';

let world: World;
beforeAll(async () => {
  world = await World.create({}, afterAll);
});

let folder: string;
let orgId: string;
let tests = 0;
beforeEach(() => {
  tests += 1;
  orgId = `acme-${tests}`;
  folder = join(world.folder, orgId);
  mkdirSync(folder);
});

const COLUMNS = columnNames('events').filter((name) => name !== 'batch' && name !== 'org_id');

async function eventsOf(org = orgId) {
  return world.store.select(
    `SELECT ${COLUMNS.join(', ')} FROM events WHERE org_id = $org_id ORDER BY day, event_id`,
    { org_id: org },
  );
}

const idsOf = async (org = orgId) => (await eventsOf(org)).map((event) => String(event.event_id));

function ingest(source: Source, { org = orgId, userId = 'ada', paths = [folder] } = {}) {
  const request = { orgId: org, source, userId, files: inputFiles(paths, source) };
  return ingestFiles(world.store, request, () => NOW);
}

/** A former mapping of a source: its usage has other ids, every tool is called twice, and no reply is an event. */
function former(source: Source): Source {
  const sql = join(world.folder, `${orgId}-former`);
  cpSync(source.sql, sql, { recursive: true });
  const text = readFileSync(join(source.sql, 'events.sql'), 'utf8');
  world.file(
    join(`${orgId}-former`, 'events.sql'),
    `WITH present AS MATERIALIZED (${text})
    SELECT * REPLACE (CASE WHEN type = 'model_usage' THEN event_id || ':former' ELSE event_id END AS event_id)
    FROM present
    WHERE type <> 'assistant_message'
    UNION ALL
    SELECT * REPLACE (event_id || ':again' AS event_id)
    FROM present
    WHERE type = 'tool_call'`,
  );
  return { ...source, sql };
}

describe.each([CLAUDE_CODE, CODEX, OPENCODE].map((source) => [source.name, source] as const))(
  'the mapping of %s has changed',
  (_, source) => {
    test('so a store has the events of a new one', async () => {
      const cases = casesOf(source).filter(({ name }) =>
        /^(whole-session|fork|forked-session|steps)$/.test(name),
      );
      for (const { name, files } of cases) write(join(folder, name), files);
      await ingest(former(source));
      expect((await idsOf()).filter((id) => /:(former|again)$/.test(id))).not.toEqual([]);
      const before = await world.store.select(
        'SELECT day FROM arrivals WHERE org_id = $org_id AND changed > 0',
        { org_id: orgId },
      );
      await ingest(source);
      await ingest(source, { org: `${orgId}-new` });
      expect(await eventsOf()).toEqual(await eventsOf(`${orgId}-new`));
      // The days that it was withdrawn from are built again, and nothing is withdrawn twice.
      const after = await world.store.select(
        'SELECT day FROM arrivals WHERE org_id = $org_id AND changed > 0',
        { org_id: orgId },
      );
      expect(after.length).toBeGreaterThan(before.length);
      expect(await ingest(source)).toMatchObject({ files: expect.any(Number), accepted: 0 });
      const [stored] = await world.store.select(
        'SELECT sum(accepted) AS accepted FROM arrivals WHERE org_id = $org_id',
        { org_id: orgId },
      );
      expect(Number(stored?.accepted)).toBe((await eventsOf()).length);
    });
  },
);

const line = (session: string, id: string, more: object = {}) =>
  `${JSON.stringify({ type: 'assistant', uuid: id, sessionId: session, timestamp: '2026-06-01T10:00:00Z', message: { id, model: 'opus', content: [], usage: { input_tokens: 1, output_tokens: 2 } }, ...more })}\n`;
const MORNING = '11111111-0000-4000-8000-000000000000';
const EVENING = '22222222-0000-4000-8000-000000000000';

describe('when a mapping has changed', () => {
  const put = (session: string, id: string) => world.file(join(orgId, `${session}.jsonl`), line(session, id));

  test('a session whose file is gone keeps its events', async () => {
    put(MORNING, 'm1');
    const gone = put(EVENING, 'm2');
    await ingest(former(CLAUDE_CODE));
    rmSync(gone);
    await ingest(CLAUDE_CODE);
    expect(await idsOf()).toEqual(['message:m1', 'usage:m1:', 'usage:m2::former']);
  });

  test('so does one whose file is not among those that are named', async () => {
    const named = put(MORNING, 'm1');
    put(EVENING, 'm2');
    await ingest(former(CLAUDE_CODE));
    await ingest(CLAUDE_CODE, { paths: [named] });
    expect(await idsOf()).toEqual(['message:m1', 'usage:m1:', 'usage:m2::former']);
    await ingest(CLAUDE_CODE);
    expect(await idsOf()).toEqual(['message:m1', 'message:m2', 'usage:m1:', 'usage:m2:']);
  });

  test('a session that gives nothing any more has no events', async () => {
    put(MORNING, 'm1');
    put(EVENING, 'm2');
    const before = former(CLAUDE_CODE);
    await ingest(before);
    const none = { ...CLAUDE_CODE, sql: join(world.folder, `${orgId}-none`) };
    cpSync(CLAUDE_CODE.sql, none.sql, { recursive: true });
    const text = readFileSync(join(CLAUDE_CODE.sql, 'events.sql'), 'utf8');
    world.file(
      join(`${orgId}-none`, 'events.sql'),
      `SELECT * FROM (${text}) WHERE session_id <> '${EVENING}'`,
    );
    await ingest(none);
    expect(await idsOf()).toEqual(['message:m1', 'usage:m1:']);
  });

  test('events of other users, and those that were sent, stay', async () => {
    const paths = [put(MORNING, 'm1')];
    const before = former(CLAUDE_CODE);
    await ingest(before, { userId: 'grace', paths: [put(EVENING, 'm2')] });
    const sent = { event_id: 'e1', type: 'user_message', timestamp: '2026-06-01T11:00:00Z', user_id: 'ada' };
    await world.send([{ ...sent, session_id: MORNING, channel: 'log' }], { orgId });
    await ingest(before, { paths });
    await ingest(CLAUDE_CODE, { paths });
    const users = (await eventsOf()).map(({ event_id, user_id }) => `${event_id} ${user_id}`);
    expect(users).toEqual(['e1 ada', 'message:m1 ada', 'usage:m1: ada', 'usage:m2::former grace']);
  });

  test('what a file gave before it was written anew is withdrawn, and a line with a fault changes nothing', async () => {
    world.file(join(orgId, `${MORNING}.jsonl`), `${line(MORNING, 'm1')}no JSON\n${line(MORNING, 'm2')}`);
    await ingest(former(CLAUDE_CODE));
    world.file(join(orgId, `${MORNING}.jsonl`), `${line(MORNING, 'm1')}no JSON\n`);
    await ingest(CLAUDE_CODE);
    expect(await idsOf()).toEqual(['message:m1', 'usage:m1:']);
    const { rejected } = await ingest(CLAUDE_CODE);
    expect(rejected).toBe(1);
    expect(readdirSync(folder)).toHaveLength(1);
  });
});
