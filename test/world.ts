import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, inject, onTestFinished, test } from 'vitest';
import { build } from '../src/aggregate/build-days.js';
import { DATABASE, STAGING } from '../src/disk/data-files.js';
import { Inbox } from '../src/ingest/inbox.js';
import { type Ingested, ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL, type Source } from '../src/ingest/source.js';
import { type Config, readConfig } from '../src/settings/config.js';
import { ClickHouseStore } from '../src/store/clickhouse-store.js';
import { ClusterStore } from '../src/store/cluster-store.js';
import { type DailySql, dailySql } from '../src/store/day-builder.js';
import { ChecksFailed } from '../src/store/day-checks.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import { requireOrganizations } from '../src/store/organization.js';
import type { Settled, Store } from '../src/store/store.js';
import { databaseOf } from './clickhouse/engine.js';
import { addressOf, stateOf } from './postgres/server.js';
import { playsSlow } from './slow.js';
import { watchHomes } from './statement-homes.js';

/** Where data and state are: in PostgreSQL is the state of what is in ClickHouse otherwise. */
export type StoreName = 'DuckDB' | 'ClickHouse' | 'PostgreSQL';

declare module 'vitest' {
  interface ProvidedContext {
    /** The store that worlds have: each test that asks for a world runs on both. */
    store: StoreName;
    /** The path of a database without events. Copying it is a tenth of the work of making one. */
    emptyDatabase: string;
  }
}

/** The store that worlds have. Who makes one outside of the tests has DuckDB. */
export function storeName(): StoreName {
  return process.env.VITEST === undefined ? 'DuckDB' : inject('store');
}

/** Whether tests are left out that take minutes on the store of this run. */
export function leavesOutSlow(): boolean {
  return storeName() !== 'DuckDB' && !playsSlow();
}

/** A test that takes minutes on other stores than DuckDB, where it is left out unless all tests are played. */
export function slow(name: string, run: () => Promise<void>): void {
  test.skipIf(leavesOutSlow())(name, run);
}

/** The instant at which tests live, unless they say otherwise: every day of June 2026 is over. */
export const NOW = Date.parse('2026-07-10T12:00:00.000Z');

/** A canonical event: a message of ada's in June, unless `more` says otherwise. */
export function event(event_id: string, more: object = {}) {
  return {
    event_id,
    type: 'user_message',
    timestamp: '2026-06-10T10:00:00Z',
    user_id: 'ada',
    session_id: 's1',
    ...more,
  };
}

/** Events as lines of NDJSON; a text is a line as it is. */
export function lines(events: readonly unknown[]): string {
  return events.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n');
}

/** Takes what has to be done at the end, and does it then, the last thing first. */
export type AtEnd = (undo: () => void | Promise<void>) => void;

/**
 * Takes what has to be done when all tests of a file have ended. It is asked for while they are collected: an afterAll that is
 * called later, as in a beforeAll, is never run.
 */
export function ending(): AtEnd {
  const { atEnd, undo } = undoing();
  afterAll(undo);
  return atEnd;
}

/** Takes what has to be done at an end, which is when `undo` is called. */
export function undoing(): { atEnd: AtEnd; undo: () => Promise<void> } {
  const undos: (() => void | Promise<void>)[] = [];
  return {
    atEnd: (undo) => {
      undos.push(undo);
    },
    undo: async () => {
      for (const undo of undos.reverse()) await undo();
    },
  };
}

/**
 * Organizations of one world for all tests of a file: each has sent its events, and all closed days are built, before the first
 * test. The world is known then.
 */
export function organizations(known: (world: World) => void, now = NOW): (...events: object[]) => string {
  const sent = new Map<string, readonly object[]>();
  const atEnd = ending();
  beforeAll(async () => {
    const world = await World.create({}, atEnd);
    world.now = now;
    await world.sendTogether([...sent]);
    await world.build();
    known(world);
  });
  return (...events) => {
    const orgId = `org-${sent.size + 1}`;
    sent.set(orgId, events);
    return orgId;
  };
}

/** A folder of its own for one test, which goes when the test ends. */
export function temporaryFolder(atEnd: AtEnd = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-test-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A store of its own for one test, and what tests do with one. With another `atEnd` it lives longer than the test. */
export class World {
  /** Tests move it. */
  now = NOW;

  private constructor(
    readonly folder: string,
    readonly config: Config,
    readonly store: Store,
  ) {
    this.inbox = Inbox.open(config, this.clock);
  }

  static async create(
    environment: Record<string, string> = {},
    atEnd: AtEnd = onTestFinished,
    daily: DailySql = dailySql,
    name = storeName(),
  ): Promise<World> {
    const folder = temporaryFolder(atEnd);
    const config = readConfig({ DAYBOOK_DATA: join(folder, 'data'), DAYBOOK_THREADS: '1', ...environment });
    const settings = { ...config, now: NOW, daily };
    if (process.env.VITEST !== undefined && !existsSync(config.data)) {
      mkdirSync(config.data);
      copyFileSync(inject('emptyDatabase'), join(config.data, name === 'DuckDB' ? DATABASE : STAGING));
    }
    const open = async (): Promise<Store> => {
      const { clickhouse, postgres } = config;
      if (clickhouse !== undefined && postgres !== undefined)
        return ClusterStore.open(config.data, { clickhouse, postgres }, settings);
      if (clickhouse !== undefined) return ClickHouseStore.open(config.data, clickhouse, settings);
      if (name === 'DuckDB') return DuckDbStore.open(config.data, settings);
      const connected = databaseOf(config.data, atEnd);
      return name === 'ClickHouse'
        ? ClickHouseStore.with(config.data, settings, connected)
        : ClusterStore.with(config.data, addressOf(await stateOf(config.data, atEnd)), settings, connected);
    };
    const store = await open();
    if (name !== 'PostgreSQL') watchHomes(store);
    atEnd(() => store.close());
    const world = new World(folder, config, store);
    atEnd(() => world.inbox.close());
    return world;
  }

  /** Makes a world once, and answers what gives copies of it: where a store is more than a file, others that are made alike. */
  static async template(
    make: (atEnd: AtEnd) => Promise<World>,
    atEnd: AtEnd,
  ): Promise<(atEnd?: AtEnd) => Promise<World>> {
    if (storeName() !== 'DuckDB') return (atEnd = onTestFinished) => make(atEnd);
    const first = undoing();
    const made = await make(first.atEnd);
    const kept = join(temporaryFolder(atEnd), DATABASE);
    await made.store.close();
    copyFileSync(join(made.config.data, DATABASE), kept);
    await first.undo();
    return async (atEnd = onTestFinished) => {
      const data = join(temporaryFolder(atEnd), 'data');
      mkdirSync(data);
      copyFileSync(kept, join(data, DATABASE));
      const world = await World.create({ DAYBOOK_DATA: data }, atEnd);
      world.now = made.now;
      return world;
    };
  }

  readonly clock = (): number => this.now;
  readonly inbox: Inbox;
  private sent = 0;

  /** Writes a file into the test's folder and answers its path. */
  file(name: string, content: string | Uint8Array): string {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }

  /** Ingests files or folders, whether they were read before or not. */
  async ingest(
    paths: readonly string[],
    options: { orgId?: string; source?: Source; userId?: string } = {},
  ): Promise<Ingested> {
    const { orgId = 'acme', source = CANONICAL, userId } = options;
    return ingest(
      this.store,
      { orgId, source, userId, files: inputFiles(paths, source).map(({ path, size }) => ({ path, size })) },
      this.clock,
    );
  }

  /** Settles files of several organizations in one batch, as the inbox does. */
  async settle(files: readonly { path: string; orgId: string }[]): Promise<Settled | undefined> {
    if (files.length === 0) return undefined;
    await requireOrganizations(this.store, new Set(files.map(({ orgId }) => orgId)), this.now);
    return this.store.settle({
      source: CANONICAL,
      files: files.map((file) => ({ ...file, name: file.path, receivedAt: this.now })),
      settledAt: this.now,
    });
  }

  /** Ingests canonical events, given as objects or as raw lines. */
  async send(events: readonly (object | string)[], options: { orgId?: string } = {}): Promise<Ingested> {
    return this.ingest([this.eventsFile(events)], options);
  }

  /** Sends events of several organizations in one batch. */
  async sendTogether(of: readonly (readonly [orgId: string, events: readonly object[]])[]): Promise<void> {
    const settled = await this.settle(
      of.map(([orgId, events]) => ({ orgId, path: this.eventsFile(events) })),
    );
    if (settled !== undefined && settled.rejected > 0)
      throw new Error(`the events must be valid: ${JSON.stringify(settled.examples)}`);
  }

  private eventsFile(events: readonly (object | string)[]): string {
    this.sent += 1;
    return this.file(`events-${this.sent}.ndjson`, `${lines(events)}\n`);
  }

  /** Has an older version have made all tables and built all days. The store finds that out when it is opened again, or refreshed. */
  async age(): Promise<void> {
    const isDuckDb = storeName() === 'DuckDB';
    await this.store.run([
      { sql: "DELETE FROM facts WHERE name IN ('definitions', 'schema') OR name LIKE 'table %'" },
      {
        sql: isDuckDb
          ? "UPDATE day_inputs SET definitions = 'of then'"
          : "ALTER TABLE day_inputs_rows UPDATE definitions = 'of then' WHERE true SETTINGS mutations_sync = 2",
      },
    ]);
  }

  /** Builds what is stale or new, and answers the days. Throws when a day breaks a check. */
  async build(): Promise<string[]> {
    const { days, breaches } = await build(this.store, {}, this.clock);
    if (breaches.length > 0) throw new ChecksFailed(breaches);
    return days.map(({ day }) => day);
  }
}
