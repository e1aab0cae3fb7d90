import type { ChildProcess } from 'node:child_process';
import { beforeAll, beforeEach, expect, onTestFailed, test } from 'vitest';
import { addDays, MS_PER_DAY } from '../../src/day.js';
import { daybook, TODAY } from '../program.js';
import { until } from '../service.js';
import { playsSlow } from '../slow.js';
import { ending } from '../world.js';
import { Clock } from './clock.js';
import { Load } from './load.js';
import { compare } from './outcome.js';
import { Refused } from './refused.js';
import { SEED } from './settings.js';
import { drain, end, Site } from './site.js';
import { Stalled } from './stalled.js';

const NO_COMPILER = 'Only gcc on Linux can compile what this needs.';

/** What a service does many times a second. */
const QUICK = ['events', 'telemetry in JSON', 'telemetry in protobuf', 'answers'];

/** Why a disk takes no changes. */
const ERRORS = ['EROFS', 'EACCES', 'EIO'] as const;

const atEnd = ending();
let site: Site;
let load: Load;
let service: ChildProcess;
let clock: Clock | undefined;
let disk: Refused | undefined;

/** One service for all tests, which goes on with its work meanwhile. */
beforeAll(async () => {
  console.log(`FAULTS_SEED=${SEED}`);
  site = new Site(atEnd);
  clock = Clock.of(site.path('clock'));
  disk = Refused.in(site.data, site.path('refused'));
  site.preloaded = [clock, disk].filter((one) => one !== undefined);
  Object.assign(site.env, {
    // Not while the tests run, unless they set the clock.
    DAYBOOK_BUILD_AT: new Date(Date.now() + MS_PER_DAY / 2).toISOString().slice(11, 16),
    DAYBOOK_LOG_LEVEL: 'info',
    DAYBOOK_TIMEOUT_S: '2',
  });
  load = await Load.on(site);
  service = site.serve();
  await site.serving(service);
  await load.begun();
});

beforeEach(() => onTestFailed(() => console.log(`The service said:\n${site.saidBy(service).slice(-5000)}`)));

test('refuses a second server on its data folder, and goes on', async () => {
  expect(await daybook(['--data', site.data, 'serve', '--port', '0'])).toEqual({
    code: 75,
    stdout: '',
    stderr: `Another "daybook serve" uses the data folder ${site.data}: stop it first, or set DAYBOOK_DATA to another folder.\n`,
  });
  await load.goesOn(QUICK);
});

test('serves others while clients stall, and ends their connections', async () => {
  const stalled = await Stalled.at(site, load.key);
  await load.goesOn(QUICK);
  await stalled.ended();
});

test('replies while nothing can be written, takes nothing then, and goes on afterwards', async (context) => {
  if (disk === undefined) return context.skip(NO_COMPILER);
  const ready = async () => (await fetch(`${site.url}/readyz`)).status;
  for (const error of playsSlow() ? ERRORS : ERRORS.slice(0, 1)) {
    disk.fail(error);
    await until(async () => (await ready()) === 503);
    // Not with answers where the engine gave up on its database, which can't be opened again meanwhile.
    await load.goesOn(['replies']);
    disk.fail();
    await until(async () => (await ready()) === 200);
    await load.begun();
  }
});

test('builds each night, and loses and misdates nothing, when its clock is set', async (context) => {
  if (clock === undefined) return context.skip(NO_COMPILER);
  const nights = () => site.saidBy(service).match(/"cause":"nightly"/g)?.length ?? 0;
  let expected = nights();
  for (const days of [2, -0.8, 0]) {
    // The next clock would refuse it, but not once it is taken.
    if (days < 0) await load.send(addDays(TODAY, 2));
    clock.move(days * MS_PER_DAY);
    expected += 1;
    await until(() => nights() === expected);
    await load.goesOn(QUICK);
  }
  await load.goesOn();
  expect(nights()).toBe(expected);
});

test('has lost nothing, and counted nothing twice', async () => {
  await load.stop();
  expect(load.refusals).toEqual(new Set());
  await end(service);
  site.preloaded = [];
  await drain(site);
  console.log(JSON.stringify({ ...load.counts, ...(await compare(site)) }));
});
