import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, onTestFinished } from 'vitest';
import { DATABASE } from '../../src/disk/data-files.js';
import { freePort } from '../ask.js';
import { RATE_CARD } from '../laws/law.js';
import { daybook, keyOf, start } from '../program.js';
import { randomOf } from '../random.js';
import { until, waitingIn } from '../service.js';
import { type AtEnd, lines, temporaryFolder } from '../world.js';
import { LakeVersions } from './lake-versions.js';
import { type Preloaded, preloading } from './preloaded.js';
import { Ledger, Sender } from './sender.js';
import { SEED } from './settings.js';

/** A data folder, the processes that work on it, and what they were sent. */
export class Site {
  readonly folder: string;
  readonly data: string;
  /** Tests add to it. */
  readonly env: Record<string, string> = {
    DAYBOOK_RATE_CARD: RATE_CARD,
    DAYBOOK_BUILD_AT: 'off',
    DAYBOOK_LOG_LEVEL: 'warn',
    DAYBOOK_RATE_LIMIT: '0',
    DAYBOOK_THREADS: '1',
  };
  /** Into every process that is started. */
  preloaded: readonly Preloaded[] = [];
  readonly kills: Record<string, number> = {};
  /** The newest change that the database had seen when its upgrade was killed. */
  readonly upgrades: number[] = [];
  /** Of what is done, and of what is sent: the times of answers don't change what is done next. */
  private readonly random = randomOf(SEED);
  /** The first sends each event once, the second until it is acknowledged, and some again; the third has files alone. */
  readonly ledgers = ['acme', 'globex', 'initech'].map(
    (orgId, index) => new Ledger(orgId, randomOf(SEED + 1 + index)),
  );
  readonly versions: readonly LakeVersions[];
  private readonly files: { path: string; ids: string[] }[] = [];
  port = 0;
  private made = 0;
  private readonly said = new WeakMap<ChildProcess, string>();

  constructor(private readonly atEnd: AtEnd = onTestFinished) {
    this.folder = temporaryFolder(atEnd);
    this.data = join(this.folder, 'data');
    this.versions = this.ledgers.map(({ orgId }) => new LakeVersions(this.data, orgId));
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  upTo(most: number): number {
    return Math.floor(this.random() * most);
  }

  get killed(): number {
    return Object.values(this.kills).reduce((sum, count) => sum + count, 0);
  }

  async senders(): Promise<Sender[]> {
    this.port = await freePort();
    const keys = [await keyOf(this.data, 'ingest'), await keyOf(this.data, 'ingest', '--org', 'globex')];
    return keys.map((key, index) => new Sender(this.ledgers[index] as Ledger, this.url, key, index === 1));
  }

  start(...args: string[]): ChildProcess {
    const env = { ...this.env, ...preloading(...this.preloaded) };
    const child = start(['--data', this.data, ...args], { env, atEnd: this.atEnd });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text) => this.said.set(child, this.saidBy(child) + text));
    return child;
  }

  /** What a process has printed. */
  saidBy(child: ChildProcess): string {
    return this.said.get(child) ?? '';
  }

  serve(): ChildProcess {
    return this.start('serve', '--port', String(this.port));
  }

  /** Waits until a service answers. */
  async serving(child: ChildProcess): Promise<void> {
    await until(() => this.saidBy(child).includes('Daybook serves on') || child.exitCode !== null);
    if (child.exitCode !== null)
      throw new Error(`The service ended with ${child.exitCode}: ${this.saidBy(child)}`);
  }

  /** Kills a process after some time, and returns whether it was still there. One that ended before must have succeeded. */
  async kill(what: string, child: ChildProcess, afterMs: number): Promise<boolean> {
    const end = once(child, 'close');
    await Promise.race([wait(afterMs), end]);
    child.kill('SIGKILL');
    await end;
    if (child.signalCode !== 'SIGKILL') {
      if (child.exitCode !== 0)
        throw new Error(`${what} ended with ${child.exitCode}: ${this.saidBy(child)}`);
      return false;
    }
    this.kills[what] = (this.kills[what] ?? 0) + 1;
    return true;
  }

  /** Runs a command to its end, which must be a good one. */
  async run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await daybook(['--data', this.data, ...args], { env: this.env });
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: expect.any(String) });
    return stdout;
  }

  /** A new path in the folder of the site. */
  path(name: string): string {
    this.made += 1;
    return join(this.folder, `${name}-${this.made}`);
  }

  /** Makes a file of new events, which waits to be ingested. */
  file(): string {
    const path = `${this.path('events')}.ndjson`;
    const events = (this.ledgers[2] as Ledger).events(200);
    writeFileSync(path, `${lines(events)}\n`);
    this.files.push({ path, ids: events.map(({ event_id }) => event_id) });
    return path;
  }

  /** Ingests the files whose command was killed, once more and to its end. */
  async ingestAll(): Promise<void> {
    for (const { path, ids } of this.files.splice(0)) {
      await this.run('ingest', '--org', 'initech', path);
      for (const id of ids) this.ledgers[2]?.acknowledged.add(id);
    }
  }

  /** Makes the database one of the version before, whose tables and days this one brings up to date. */
  async age(): Promise<void> {
    const instance = await DuckDBInstance.create(join(this.data, DATABASE));
    const connection = await instance.connect();
    for (const sql of [
      'BEGIN',
      "DELETE FROM changes WHERE name LIKE '%ended_tickets'",
      'DROP TABLE IF EXISTS ended_tickets',
      "DELETE FROM facts WHERE name IN ('definitions', 'schema') OR name LIKE 'table %'",
      "UPDATE day_inputs SET definitions = 'of then'",
      'COMMIT',
    ])
      await connection.run(sql);
    connection.closeSync();
    instance.closeSync();
  }

  /** The copies that were made before upgrades, also those that aren't whole. */
  copies(): string {
    const folder = join(this.data, 'backups');
    return existsSync(folder) ? readdirSync(folder).sort().join() : '';
  }

  /** The newest change that the database has seen, of which a copy is opened: that changes it. */
  async newestChange(): Promise<number> {
    const copy = this.path('copy');
    for (const end of ['', '.wal'])
      if (existsSync(join(this.data, DATABASE + end)))
        copyFileSync(join(this.data, DATABASE + end), copy + end);
    const instance = await DuckDBInstance.create(copy);
    const connection = await instance.connect();
    const rows = await connection.runAndReadAll('SELECT CAST(max(number) AS INTEGER) FROM changes');
    connection.closeSync();
    instance.closeSync();
    return Number(rows.getRows()[0]?.[0]);
  }

  async note(): Promise<void> {
    for (const versions of this.versions) await versions.note();
  }
}

/** Ends a service, which has to end well. */
export async function end(service: ChildProcess): Promise<void> {
  const ended = once(service, 'close');
  service.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
}

/** Settles, builds and publishes what there is, undisturbed, and has the lake compared with the store. */
export async function drain(site: Site): Promise<void> {
  await site.ingestAll();
  const service = site.serve();
  await site.serving(service);
  await site.run('build');
  expect(waitingIn(site.data)).toEqual([]);
  await end(service);
  expect(await site.run('lake', 'verify')).toMatch(/^The lake has the same rows as the store\.\n/);
}
