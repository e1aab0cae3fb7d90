import { expect } from 'vitest';
import { SecretKey } from '../src/controls/secret-key.js';
import { MS_PER_DAY } from '../src/day.js';
import type { Pull } from '../src/store/state/vendor-pulls.js';
import type { Row } from '../src/store/store.js';
import { columnNames } from '../src/store/tables.js';
import { type PullDeps, pullOrganization } from '../src/vendors/pull-reports.js';
import { sealedVendors, type Vendor } from '../src/vendors/vendor-settings.js';
import { playsSlow } from './slow.js';
import type { StandIn } from './vendor-stand-in.js';
import { type AtEnd, event, storeName, World } from './world.js';

export const KEY = 'sk-ant-admin01-right';
/**
 * A month of 50 people, or a short form of it. ClickHouse has the short form: in full, Anthropic's month alone took 418 s there, 250 s of them for
 * 13 builds.
 */
const IS_FULL = playsSlow() && storeName() === 'DuckDB';
export const PEOPLE = IS_FULL ? 50 : 12;
export const MONTH = IS_FULL ? 30 : 8;
/** At night, when the days until the one before can be fetched. */
export const NIGHT = Date.parse('2026-05-01T00:15:00Z');

/** An organization whose vendor is a stand-in. */
export class Pulled {
  private constructor(
    readonly world: World,
    readonly vendor: StandIn,
    readonly deps: PullDeps,
    /** How long was waited, each time: milliseconds. */
    readonly waits: number[],
  ) {}

  static async create(vendor: StandIn, end: AtEnd, hosts = vendor.host): Promise<Pulled> {
    const world = await World.create({ DAYBOOK_RATE_LIMIT: '0', DAYBOOK_VENDOR_HOSTS: hosts }, end);
    world.now = NIGHT;
    const { store, config, clock } = world;
    const waits: number[] = [];
    const pause = async (ms: number) => void waits.push(ms);
    const deps = { store, config, clock, key: new SecretKey(config), pause };
    await world.send([event('e1', { timestamp: '2026-04-01T10:00:00Z' })]);
    return new Pulled(world, vendor, deps, waits);
  }

  async set(more: Partial<Vendor> = {}): Promise<void> {
    const { store, key } = this.deps;
    const vendor = {
      vendor: 'anthropic',
      key: KEY,
      account: null,
      url: this.vendor.url,
      since: null,
      bills: false,
      rosters: false,
      ...more,
    } as const;
    await sealedVendors.change(store, 'acme', { vendors: [vendor] }, key, 'ada', NIGHT);
  }

  /** All that is pulled, as one. */
  async pull(now: number): Promise<Pick<Pull, 'days' | 'changed' | 'missed' | 'fault'>> {
    const pulls = await this.pullAll(now);
    const sum = (of: (pull: Pull) => number) => pulls.reduce((total, pull) => total + of(pull), 0);
    return {
      ...{ days: sum(({ days }) => days), changed: sum(({ changed }) => changed) },
      missed: pulls.flatMap(({ missed }) => missed),
      fault: pulls.find(({ fault }) => fault !== '')?.fault ?? '',
    };
  }

  pullAll(now: number): Promise<Pull[]> {
    this.world.now = now;
    this.vendor.now = now;
    return pullOrganization(this.deps, 'acme');
  }

  /** All that the vendor's events have, but the batch, and the id, which has a hash with the secret of the installation. */
  events(): Promise<Row[]> {
    const columns = columnNames('events').filter((name) => name !== 'batch' && name !== 'event_id');
    return this.world.store.select(
      `SELECT ${columns.join(', ')} FROM events WHERE channel = 'vendor_api' ORDER BY day, type, agent, user_id, model, occurred_at, input_tokens, lines_added`,
    );
  }

  tables(): Promise<Row[]> {
    return this.world.store.select(
      'SELECT day, table_name, row_count, digest FROM digests ORDER BY day, table_name',
    );
  }
}

/**
 * Pulls a month each night, or every few nights, until the vendor changes nothing more, while requests fail in every way. Answers when the last pull was.
 * Without a fault and a change nothing would be tried: it expects both.
 */
export async function pullNightly(
  nightly: Pulled,
  month: number,
  revisedDays: number,
  nights = 1,
): Promise<number> {
  const { vendor } = nightly;
  vendor.faults = { early: 5, down: 6, cut: 5, reset: 3, shape: 4 };
  const seen = { missed: 0, changed: 0 };
  const pull = async (night: number) => {
    const pulls = await nightly.pullAll(NIGHT + night * MS_PER_DAY);
    const missed = pulls.reduce((sum, one) => sum + one.missed.length, 0);
    seen.missed += missed;
    seen.changed += pulls.reduce((sum, { changed }) => sum + changed, 0);
    return missed;
  };
  const end = month + revisedDays + 2;
  for (let night = 1; night < end; night += 1) {
    // Now and then nothing works all night, or the service is off.
    if (night % 17 === 0 || night % nights !== 0) continue;
    vendor.isDown = night % 11 === 0;
    await pull(night);
    if (night % 5 === 0) await nightly.world.build();
  }
  vendor.isDown = false;
  vendor.faults = {};
  // Some day is missed in nearly every night: the last one has no faults.
  expect(await pull(end)).toBe(0);
  await nightly.world.build();
  expect(seen.missed).toBeGreaterThan(2);
  expect(seen.changed).toBeGreaterThan(1.5 * month);
  expect(nightly.waits).toContain(7000);
  return NIGHT + end * MS_PER_DAY;
}
