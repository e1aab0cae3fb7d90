import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { build } from '../../src/aggregate/build-days.js';
import { dailySql } from '../../src/store/day-builder.js';
import { groupOf } from '../../src/store/group.js';
import type { Row, Store } from '../../src/store/store.js';
import { hasPostgres } from '../postgres/installed.js';
import { ending, NOW, World } from '../world.js';
import { digestsOf, type Node, Nodes } from './nodes.js';

/** Organizations of three groups: the first two are of one. */
const ORGS = ['acme', sameGroup('acme'), 'globex', 'initech'];

function sameGroup(orgId: string): string {
  for (let number = 1; ; number += 1) if (groupOf(`org-${number}`) === groupOf(orgId)) return `org-${number}`;
}

const event = (event_id: string, day: string, more: object = {}) => ({
  event_id,
  type: 'model_usage',
  timestamp: `${day}T10:00:00Z`,
  user_id: 'ada',
  user_email: 'ada@acme.example',
  session_id: 'long',
  model: 'claude-sonnet-4-5',
  input_tokens: 10,
  output_tokens: 5,
  ...more,
});

const FIRST = [event('1', '2026-07-06'), event('2', '2026-07-08')];
/** A reply that has grown, an event before the session's start, a new user, a line that is none, a late event. */
const SECOND = [
  event('1', '2026-07-06', { output_tokens: 50, user_email: 'countess@acme.example' }),
  event('3', '2026-07-05'),
  event('4', '2026-07-07', { user_id: 'grace', user_email: 'grace@acme.example' }),
  { event_id: '5' },
];
const BATCHES = [FIRST, SECOND];

const built = (store: Store) => build(store, {}, () => NOW);

/** What one node with DuckDB gives for the events of all organizations. */
let expected: Row[];
let expectedEvents: Row[];

const EVENTS = 'SELECT * FROM events ORDER BY org_id, day, event_id';

const eventsOf = async (store: Store) => (await store.select(EVENTS)).map(({ batch: _, ...row }) => row);

const atEnd = ending();

describe.runIf(hasPostgres())('several nodes', () => {
  beforeAll(async () => {
    const world = await World.create({}, atEnd, dailySql, 'DuckDB');
    for (const events of BATCHES)
      for (const orgId of ORGS) {
        const path = world.file(`${orgId}.ndjson`, events.map((one) => JSON.stringify(one)).join('\n'));
        await world.ingest([path], { orgId });
      }
    await built(world.store);
    expected = await digestsOf(world.store);
    expectedEvents = await eventsOf(world.store);
  });

  test('settle and build beside each other what one node does alone', async () => {
    const nodes = await Nodes.start();
    const three = [await nodes.open(), await nodes.open(), await nodes.open()];
    const [one, two, third] = three as [Node, Node, Node];
    for (const events of BATCHES)
      await Promise.all(ORGS.map((orgId, place) => (three[place % 3] ?? one).send(orgId, events)));
    await Promise.all(three.map(({ store }) => built(store)));
    for (const { store } of [one, two, third]) {
      expect(await eventsOf(store)).toEqual(expectedEvents);
      expect(await digestsOf(store)).toEqual(expected);
      expect(await store.select('SELECT * FROM touches')).toEqual([]);
    }
    expect((await built(one.store)).days).toEqual([]);
  });
});
void onTestFinished;
