import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { firstNumber, LeaseLedger } from '../src/store/clickhouse/lease-ledger.js';
import { GROUPS } from '../src/store/group.js';
import { Leases } from '../src/store/postgres/leases.js';
import { applyChanges } from '../src/store/postgres/postgres-schema.js';
import { PostgresSession } from '../src/store/postgres/postgres-session.js';
import { StateRevisions } from '../src/store/postgres/state-revisions.js';
import { quote, quoteInstant } from '../src/store/sql-text.js';
import { table } from '../src/terminal/terminal.js';
import { addressOf, postgresDatabase } from '../test/postgres/server.js';
import { undoing } from '../test/world.js';
import { percentile } from './asking.js';
import { count } from './table.js';

/** How many rows one statement writes. */
const TOGETHER = 500;

/** Collectors report every ten minutes. */
const HEARTBEAT_S = 600;

/** What one kind of work did. */
interface Done {
  readonly ms: number[];
  failed: number;
}

/**
 * What many nodes ask of one PostgreSQL: `--nodes` of them, with `--organizations` of `--users`, for `--seconds`. No node does anything but that, so
 * all of them fit on one machine; there is no ClickHouse. The number of each work a second is at full speed; the column beside it has how many
 * the nodes would need.
 */
export async function postgres(_root: string, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: { type: 'string', default: '30' },
      organizations: { type: 'string', default: '1000' },
      users: { type: 'string', default: '200' },
      seconds: { type: 'string', default: '20' },
    },
  });
  const [nodes, organizations, users, seconds] = [
    values.nodes,
    values.organizations,
    values.users,
    values.seconds,
  ].map(Number) as [number, number, number, number];
  const { atEnd, undo } = undoing();
  try {
    const address = addressOf(await postgresDatabase(atEnd));
    const session = PostgresSession.of(address);
    atEnd(() => session.close());
    await applyChanges(session, { now: Date.now() });
    await fill(session, organizations, users);
    const sessions = Array.from({ length: nodes }, () => PostgresSession.of(address, 2));
    atEnd(async () => void (await Promise.all(sessions.map((one) => one.close()))));
    console.log(
      `${nodes} nodes, ${count(organizations)} organizations of ${count(users)} users, ${seconds} s, without ClickHouse`,
    );
    const needs = neededBy(nodes, organizations * users);
    const rows = [];
    for (const [name, work] of Object.entries(workOf(sessions, organizations, users))) {
      const done = await during(seconds, paced(work));
      rows.push(rowOf(name, done, seconds, needs[name] ?? 0));
    }
    console.log(table(rows));
    const all = Object.entries(workOf(sessions, organizations, users)).flatMap(([name, work]) =>
      paced(work, needs[name] ?? 0),
    );
    const waits: number[] = [];
    const watching = setInterval(
      () => void session.select(LOCKED).then(([row]) => waits.push(Number(row?.waiting))),
      200,
    );
    const together = await during(seconds, all);
    clearInterval(watching);
    const slow = percentile(together.ms, 0.99).toFixed(0);
    console.log(
      `All of it together, as often as the nodes need it: ${(together.ms.length / seconds).toFixed(0)} a second, p99 ${slow} ms, ${together.failed} failed, ${Math.max(0, ...waits)} transactions waiting for a lock at most.`,
    );
    console.log(table(await session.select(SIZES)));
  } finally {
    await undo();
  }
}

const LOCKED = "SELECT count(*) AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock'";

const SIZES = `SELECT relname AS table_name, n_live_tup AS rows, round(pg_total_relation_size(relid) / 1048576.0, 1) AS mib
FROM pg_stat_user_tables ORDER BY pg_total_relation_size(relid) DESC LIMIT 6`;

/** Organizations with a key for each user. */
async function fill(session: PostgresSession, organizations: number, users: number): Promise<void> {
  const at = quoteInstant(Date.now());
  const orgs = Array.from({ length: organizations }, (_, index) => `org-${index}`);
  await inserted(
    session,
    'organizations (org_id, created_at)',
    orgs.map((org) => `(${quote(org)}, ${at})`),
  );
  const keys = orgs.flatMap((org) =>
    Array.from({ length: users }, (_, user) =>
      [`key_${org}_${user}`, org, 'ingest', `${org} ${user}`, 'none'].map(quote).join(', '),
    ),
  );
  await inserted(
    session,
    'keys (key_id, org_id, role, key_hash, fingerprint, created_at)',
    keys.map((key) => `(${key}, ${at})`),
  );
}

async function inserted(session: PostgresSession, into: string, rows: readonly string[]): Promise<void> {
  for (let next = 0; next < rows.length; next += TOGETHER)
    await session.run([
      { sql: `INSERT INTO ${into} VALUES ${rows.slice(next, next + TOGETHER).join(', ')}` },
    ]);
}

type Work = readonly (() => Promise<void>)[];

/** The kinds of work, each as what its nodes do over and over. */
function workOf(sessions: readonly PostgresSession[], organizations: number, users: number) {
  const anyOf = (limit: number) => Math.floor(Math.random() * limit);
  const ledgers = sessions.map((session) => new LeaseLedger(session, new Leases(session, firstNumber)));
  const groups = Array.from({ length: GROUPS }, (_, group) => group);
  return {
    'ask what counts': ledgers.map((ledger) => async () => void (await ledger.counted())),
    'ask for revisions': sessions.map(
      (session) => async () => void (await new StateRevisions(session).published()),
    ),
    'settle a batch': groups.map((group) => async () => {
      const ledger = ledgers[group % ledgers.length] as LeaseLedger;
      await ledger.leading(
        `settle ${group}`,
        async () => {
          const attempt = await ledger.begin('batch', group);
          const written = new Map([
            ['events', 5000],
            ['arrivals', 10],
            ['rejects', 0],
            ['batches', 10],
          ]);
          await ledger.commit(attempt, { row: async () => undefined, written: async () => written });
        },
        'waits',
      );
    }),
    'sign of life': sessions.map((session) => async () => {
      const org = `org-${anyOf(organizations)}`;
      const at = quoteInstant(Date.now());
      const row = [org, `user-${anyOf(users)}`, 'c0ffee', ''].map(quote).join(', ');
      await session.run([
        { sql: `INSERT INTO heartbeats VALUES (${row}, ${at}, NULL, 'laptop', '0.3.0', 'none')` },
      ]);
    }),
    'change a key': sessions.map((session) => async () => {
      const org = `org-${anyOf(organizations)}`;
      await session.run([
        {
          sql: 'UPDATE keys SET revoked_at = instant($now) WHERE key_id = $id',
          parameters: { now: Date.now(), id: `key_${org}_${anyOf(users)}` },
        },
      ]);
    }),
  };
}

/** How often per second that many nodes and users do each kind of work: generous guesses. */
function neededBy(nodes: number, people: number): Record<string, number> {
  return {
    // Ten answers a second and node that aren't in memory.
    'ask what counts': nodes * 10,
    'ask for revisions': nodes * 2,
    // Every group settles once a second.
    'settle a batch': GROUPS,
    'sign of life': people / HEARTBEAT_S,
    // Ten thousand a day.
    'change a key': 10_000 / 86_400,
  };
}

/** Does work over and over, each of it beside the others, and as often as its pace allows. */
async function during(seconds: number, work: readonly Paced[]): Promise<Done> {
  const done: Done = { ms: [], failed: 0 };
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    work.map(async ({ task, pauseMs }) => {
      let next = performance.now() + Math.random() * pauseMs;
      for (;;) {
        await wait(next - performance.now());
        const begun = performance.now();
        if (begun >= end) return;
        await task().then(
          () => done.ms.push(performance.now() - begun),
          () => {
            done.failed += 1;
          },
        );
        next += pauseMs;
      }
    }),
  );
  return done;
}

/** A task, and how long it is at least from one time to the next, in milliseconds. */
interface Paced {
  readonly task: () => Promise<void>;
  readonly pauseMs: number;
}

/** Work at full speed, or so often a second in all. */
function paced(work: Work, perSecond = Number.POSITIVE_INFINITY): Paced[] {
  return work.map((task) => ({ task, pauseMs: (1000 * work.length) / perSecond }));
}

function rowOf(name: string, { ms, failed }: Done, seconds: number, needed: number) {
  const perSecond = ms.length / seconds;
  return {
    work: name,
    'a second': perSecond.toFixed(0),
    'p50 ms': percentile(ms, 0.5).toFixed(1),
    'p99 ms': percentile(ms, 0.99).toFixed(1),
    failed,
    needed: needed.toFixed(1),
    share: `${((100 * needed) / perSecond).toFixed(1)} %`,
  };
}
