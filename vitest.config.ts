import { existsSync, mkdtempSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { isInstalled } from './test/clickhouse/engine.js';
import { hasPostgres } from './test/postgres/installed.js';
import { playsSlow } from './test/slow.js';

/** Tests of the program: processes that are started, asked, killed and started again. Another store makes no difference to them. */
const PROGRAM = [
  'test/agent.test.ts',
  'test/at-once.test.ts',
  'test/backup.test.ts',
  'test/checkout.test.ts',
  'test/cli.test.ts',
  'test/cluster/one-node.test.ts',
  'test/collect.test.ts',
  'test/erasure-kill.test.ts',
  'test/faults/*.test.ts',
  'test/fresh-process.test.ts',
  'test/full-disk.test.ts',
  'test/hostile-server.test.ts',
  'test/image.test.ts',
  'test/language.test.ts',
  'test/lake/kill.test.ts',
  'test/lake/readers.test.ts',
  'test/mcp-program.test.ts',
  'test/new-version.test.ts',
  'test/outlasting.test.ts',
  'test/processes.test.ts',
  'test/run.test.ts',
  'test/s3/lake-program.test.ts',
  'test/service.test.ts',
  'test/shell.test.ts',
  'test/sql.test.ts',
  'test/systemd/units.test.ts',
  'test/terminal.test.ts',
  'test/vendor-program.test.ts',
  'test/words.test.ts',
];

/** Tests of the program that need ClickHouse's engine: its HTTP front, and several nodes. */
const WITH_CLICKHOUSE = [
  'test/clickhouse/cluster.test.ts',
  'test/clickhouse/front.test.ts',
  'test/clickhouse/nodes.test.ts',
  'test/s3/nodes-on-bucket.test.ts',
];

/** Played by the crash suite alone. */
const ONLY_FAULTS = ['test/modest-disk.test.ts', 'test/s3/inbox-kill.test.ts'];

/** The crash suite: faults of all kinds, and in full the tests of the faults of one part. */
const FAULTS = [
  ...ONLY_FAULTS,
  'test/at-once.test.ts',
  'test/backup.test.ts',
  'test/cluster/one-node.test.ts',
  ...(isInstalled() ? ['test/clickhouse/kill.test.ts', 'test/cluster/clickhouse-node.test.ts'] : []),
  ...(isInstalled() && hasPostgres() ? ['test/cluster/three-nodes.test.ts'] : []),
  'test/faults/*.test.ts',
  'test/full-disk.test.ts',
  'test/lake/kill.test.ts',
  'test/loss.test.ts',
  'test/processes.test.ts',
  'test/upgrade.test.ts',
];

/** Tests of what a store does, whichever it is. The others don't open one, or open that of a command. */
const ON_EVERY_STORE = [
  'test/adoption.test.ts',
  'test/alerts.test.ts',
  'test/claims.test.ts',
  'test/cookbook.test.ts',
  'test/cost-terms.test.ts',
  'test/definition.test.ts',
  'test/erasure.test.ts',
  'test/focus.test.ts',
  'test/clickhouse/functions.test.ts',
  'test/clickhouse/renewal.test.ts',
  'test/clickhouse/same.test.ts',
  'test/clickhouse/unreachable.test.ts',
  'test/golden.test.ts',
  'test/ingest/changed-files.test.ts',
  'test/ingest/mended-lines.test.ts',
  'test/ingest/organizations.test.ts',
  'test/ingest/withdrawn.test.ts',
  'test/laws/arrival.test.ts',
  'test/laws/numbers.test.ts',
  'test/laws/summary.test.ts',
  'test/laws/views.test.ts',
  'test/privacy.test.ts',
  'test/store.test.ts',
  'test/vendor-bills.test.ts',
];

/**
 * The same, minutes longer on ClickHouse than on DuckDB: `SLOW_TESTS=1 npm test` plays them there too. Those that are in OF_STATE as well
 * have their events in ClickHouse whenever their state is in PostgreSQL.
 */
const SLOW = [
  'test/agent-files.test.ts',
  'test/agents.test.ts',
  'test/api-keys.test.ts',
  'test/api.test.ts',
  'test/audit.test.ts',
  'test/budgets.test.ts',
  'test/changes.test.ts',
  'test/check.test.ts',
  'test/computers.test.ts',
  'test/controls.test.ts',
  'test/coverage.test.ts',
  'test/exported-events.test.ts',
  'test/files.test.ts',
  'test/forms.test.ts',
  'test/lake/damage.test.ts',
  'test/lake/lake.test.ts',
  'test/lake/people.test.ts',
  'test/lake/verify.test.ts',
  'test/marks.test.ts',
  'test/nothing-twice.test.ts',
  'test/otlp/recordings.test.ts',
  'test/people.test.ts',
  'test/readiness.test.ts',
  'test/real-sessions.test.ts',
  'test/retention.test.ts',
  'test/scim.test.ts',
  'test/serving.test.ts',
  'test/silence.test.ts',
  'test/vendor-rosters.test.ts',
  'test/vendors.test.ts',
];

/** Tests of state, which is in PostgreSQL in `npm run test:program`. */
const OF_STATE = [
  'test/api-keys.test.ts',
  'test/computers.test.ts',
  'test/controls.test.ts',
  'test/people.test.ts',
  'test/postgres/*.test.ts',
  'test/readiness.test.ts',
  'test/scim.test.ts',
  'test/vendor-rosters.test.ts',
];

/** The same, minutes longer: `SLOW_TESTS=1 npm run test:program` plays them there too. */
const SLOW_OF_STATE = [
  'test/erasure.test.ts',
  'test/audit.test.ts',
  'test/alerts.test.ts',
  'test/budgets.test.ts',
  'test/privacy.test.ts',
  'test/silence.test.ts',
  'test/vendor-bills.test.ts',
  'test/vendors.test.ts',
];

/** A folder for all that tests write, which goes at the end; in memory where there is enough, since no test is about the disk. */
function folderOfRun(): string {
  const memory = '/dev/shm';
  const { bavail = 0, bsize = 0 } = existsSync(memory) ? statfsSync(memory) : {};
  return mkdtempSync(join(bavail * bsize >= 4 * 2 ** 30 ? memory : tmpdir(), 'daybook-tests-'));
}

/** Another one in each run. */
const SEED = Date.now() % 1_000_000;

// This is read more than once in a run.
if (process.env.TMPDIR?.includes('daybook-tests-') !== true) process.env.TMPDIR = folderOfRun();

export default defineConfig({
  test: {
    // Most tests take seconds. Laws, crashes and ClickHouse take minutes on a busy machine, and a limit is for tests that hang.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 60_000 } },
    // By default one processor stays idle, and most of the time is engines that wait for one. A worker needs up to 2.5 GB.
    maxWorkers: Math.min(4, Math.max(2, availableParallelism())),
    // The files of a process share the engine, and what they import. With a process for each file, 34 files on DuckDB took no longer
    // (330 s instead of 355 s), but six on ClickHouse, which took 64 s, hadn't ended after 280 s.
    isolate: false,
    globalSetup: 'test/folder.ts',
    reporters: ['default', ...(process.env.CI === undefined ? [] : ['test/failures.ts'])],
    projects: [
      {
        extends: true,
        test: {
          name: 'DuckDB',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...PROGRAM,
            ...ONLY_FAULTS,
            'test/browser/**',
            'test/clickhouse/**',
            'test/cluster/**',
            'test/postgres/**',
            'test/s3/nodes-on-bucket.test.ts',
            '**/node_modules/**',
          ],
          provide: { store: 'DuckDB' },
        },
      },
      ...(isInstalled()
        ? [
            {
              extends: true as const,
              test: {
                name: 'ClickHouse',
                include: [...ON_EVERY_STORE, ...(playsSlow() ? SLOW : [])],
                provide: { store: 'ClickHouse' as const },
              },
            },
          ]
        : []),
      ...(isInstalled() && hasPostgres()
        ? [
            {
              extends: true as const,
              test: {
                name: 'PostgreSQL',
                include: [...OF_STATE, ...(playsSlow() ? SLOW_OF_STATE : [])],
                provide: { store: 'PostgreSQL' as const },
              },
            },
          ]
        : []),
      {
        extends: true,
        test: {
          name: 'Program',
          include: isInstalled() ? [...PROGRAM, ...WITH_CLICKHOUSE] : PROGRAM,
          provide: { store: 'DuckDB', faults: { kills: 3, seed: 20261123, soakMinutes: 0.5 } },
        },
      },
      {
        extends: true,
        // The crash suite: longer, and from another seed in each run.
        test: {
          name: 'Faults',
          include: FAULTS,
          provide: { store: 'DuckDB', faults: { kills: 100, seed: SEED, soakMinutes: 3 } },
          env: { SLOW_TESTS: '1' },
        },
      },
      {
        extends: true,
        // What people see: the built page in a real browser.
        test: {
          name: 'Page',
          include: ['test/browser/*.test.ts'],
          provide: { store: 'DuckDB' },
        },
      },
    ],
  },
});
