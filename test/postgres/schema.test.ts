import { afterAll, expect, test } from 'vitest';
import { applyChanges } from '../../src/store/postgres/postgres-schema.js';
import { PostgresSession } from '../../src/store/postgres/postgres-session.js';
import { STATE_TABLES } from '../../src/store/state/homes.js';
import { columnNames } from '../../src/store/tables.js';
import { ending, NOW } from '../world.js';
import { addressOf, postgresDatabase } from './server.js';

const atEnd = ending();
const sessions: PostgresSession[] = [];
afterAll(() => Promise.all(sessions.map((session) => session.close())));

async function connected(count = 1): Promise<PostgresSession[]> {
  const address = addressOf(await postgresDatabase(atEnd));
  const made = Array.from({ length: count }, () => PostgresSession.of(address));
  sessions.push(...made);
  return made;
}

test('nodes that start at once make the tables once, with the columns of every store', async () => {
  const nodes = await connected(3);
  await Promise.all(nodes.map((node) => applyChanges(node, { now: NOW })));
  const [node] = nodes as [PostgresSession];
  for (const table of STATE_TABLES) {
    const columns = await node.select(
      'SELECT column_name FROM information_schema.columns WHERE table_name = $table AND table_schema = current_schema() ORDER BY ordinal_position',
      { table },
    );
    expect([table, columns.map(({ column_name }) => column_name)]).toEqual([table, columnNames(table)]);
  }
});

test('a version before can start beside a later one, which has added a column and a change', async () => {
  const [node] = (await connected()) as [PostgresSession];
  await applyChanges(node, { now: NOW });
  await node.run([
    { sql: 'ALTER TABLE organizations ADD COLUMN plan TEXT' },
    { sql: "INSERT INTO changes VALUES ('change 9999-plan', instant(0))" },
  ]);
  await applyChanges(node, { now: NOW });
  await node.run([
    { sql: "INSERT INTO organizations VALUES ('acme', instant($now))", parameters: { now: NOW } },
  ]);
  expect(await node.select('SELECT org_id, created_at FROM organizations')).toEqual([
    { org_id: 'acme', created_at: NOW },
  ]);
});

test('a database that is only read must have all changes', async () => {
  const [node] = (await connected()) as [PostgresSession];
  await expect(applyChanges(node, { now: NOW, isReading: true })).rejects.toThrow(/older version/);
  expect(await node.select("SELECT 1 AS x FROM pg_tables WHERE tablename = 'changes'")).toEqual([]);
});

test('texts are in the order of their bytes, and in lower case letter by letter', async () => {
  const [node] = (await connected()) as [PostgresSession];
  await applyChanges(node, { now: NOW });
  await node.run([
    {
      sql: "INSERT INTO organizations SELECT name, instant(0) FROM (VALUES ('b'), ('B'), ('a'), ('ä'), ('_')) AS made (name)",
    },
  ]);
  const rows = await node.select('SELECT org_id FROM organizations ORDER BY org_id');
  expect(rows.map(({ org_id }) => org_id)).toEqual(['B', '_', 'a', 'b', 'ä']);
  expect(await node.select("SELECT lower_case('ÄİΟΔΟΣ SS ẞ') AS low")).toEqual([{ low: 'äiοδοσ ss ß' }]);
});

test('changes are counted by table and put out by row, with the transaction that makes them', async () => {
  const [node] = (await connected()) as [PostgresSession];
  await applyChanges(node, { now: NOW });
  const seen = async () => ({
    counts: await node.select('SELECT table_name, revision FROM revisions_of_tables ORDER BY table_name'),
    outbox: await node.select('SELECT table_name, is_removed, content FROM outbox ORDER BY number'),
  });
  await expect(
    node.run([{ sql: "INSERT INTO organizations VALUES ('acme', instant(0))" }, { sql: 'SELECT 1 / 0' }]),
  ).rejects.toThrow();
  expect(await seen()).toEqual({ counts: [], outbox: [] });
  await node.run([
    { sql: "INSERT INTO people VALUES ('acme', 'ada', 'Ada \"L\"', '')" },
    { sql: "UPDATE people SET name = 'Ada' WHERE user_id = 'ada'" },
    {
      sql: "INSERT INTO vendor_bills VALUES ('acme', 'r', 'v', '2026-06-01', 'i', 123456789.123456789, NULL, NULL, '')",
    },
    { sql: "INSERT INTO ended_tickets VALUES ('t', instant(0))" },
  ]);
  const { counts, outbox } = await seen();
  expect(counts).toEqual([
    { table_name: 'ended_tickets', revision: 1 },
    { table_name: 'people', revision: 2 },
    { table_name: 'vendor_bills', revision: 1 },
  ]);
  expect(outbox.map((row) => ({ ...row, content: JSON.parse(String(row.content)) }))).toEqual([
    {
      table_name: 'people',
      is_removed: false,
      content: { org_id: 'acme', user_id: 'ada', name: 'Ada "L"', email: '' },
    },
    {
      table_name: 'people',
      is_removed: true,
      content: { org_id: 'acme', user_id: 'ada', name: 'Ada "L"', email: '' },
    },
    {
      table_name: 'people',
      is_removed: false,
      content: { org_id: 'acme', user_id: 'ada', name: 'Ada', email: '' },
    },
    {
      table_name: 'vendor_bills',
      is_removed: false,
      content: {
        ...{ org_id: 'acme', report: 'r', vendor: 'v', day: '2026-06-01', item: 'i' },
        ...{ usd: '123456789.123456789', gross_usd: null, tokens: null, digest: '' },
      },
    },
  ]);
});
