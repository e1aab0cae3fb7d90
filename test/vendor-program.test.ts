import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { addDays, dayOf, MS_PER_DAY } from '../src/day.js';
import { daybook, start } from './program.js';
import { KEY } from './pulled.js';
import { until } from './service.js';
import { anthropicBills } from './vendor-bills-stand-in.js';
import { StandIn, Status, type VendorAnswers } from './vendor-stand-in.js';
import { event, temporaryFolder } from './world.js';

/** Of this file: a run of all tests can begin on the day before. */
const TODAY = dayOf(Date.now());

/** The first day that is pulled. */
const SINCE = addDays(TODAY, -9);

/** A data folder with usage of yesterday, and a stand-in whose report of messages is refused for as long as it is told to. */
async function prepared() {
  const bills = anthropicBills(8, 30);
  const refused = { isRefused: true };
  const answers: VendorAnswers = (request, self) =>
    refused.isRefused && request.url.pathname.endsWith('/messages') ? new Status(403) : bills(request, self);
  const vendor = await StandIn.start(7, answers, onTestFinished);
  vendor.now = Date.now();
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  const usage = event('u1', {
    ...{ type: 'model_usage', agent: 'claude-code', channel: 'log', model: 'claude-opus-4-5' },
    ...{ input_tokens: 9_000_000, output_tokens: 0, timestamp: `${addDays(TODAY, -1)}T10:00:00Z` },
  });
  const file = join(folder, 'events.ndjson');
  writeFileSync(file, JSON.stringify(usage));
  const env = { COLUMNS: '80', DAYBOOK_VENDOR_HOSTS: vendor.host };
  const run = (args: readonly string[], input = '') =>
    daybook(['--data', data, ...args], { cwd: folder, env, input });
  const settings = { vendors: [{ vendor: 'anthropic', key: KEY, url: vendor.url, since: SINCE }] };
  expect((await run(['ingest', '--org', 'acme', '--new', file])).code).toBe(0);
  return { vendor, refused, data, env, run, settings };
}

const FAULT =
  'Anthropic answers /v1/organizations/usage_report/messages with 403: give it a key that may read this report';

test('daybook pull says what it fetched, and exits with 1 for a fault; status and coverage name it', async () => {
  const { refused, run, settings } = await prepared();
  const none = await run(['pull', '--org', 'acme']);
  expect(none).toEqual({
    ...{ code: 0, stdout: '' },
    stderr: 'No vendor is pulled: "daybook pull set FILE --org acme" says which ones are.\n',
  });
  const wrong = await run(['pull', 'set', '-', '--org', 'acme'], '{"vendors":[{"vendor":"cursor"}]}');
  expect(wrong).toEqual({ code: 2, stdout: '', stderr: 'settings.vendors.0.key must be *** or a string.\n' });
  const set = await run(['pull', 'set', '-', '--org', 'acme'], JSON.stringify(settings));
  expect(set.code).toBe(0);
  expect(set.stdout).toBe('1 vendor of acme: fetch them with "daybook pull --org acme".\n');

  const pulled = await run(['pull', '--org', 'acme']);
  expect(pulled.code).toBe(1);
  expect(pulled.stdout).toBe(
    [
      'anthropic-claude-code: 9 days fetched, 9 changed',
      'anthropic-costs: 9 days fetched, 9 changed',
      `anthropic-messages: 0 days fetched, 0 changed, 9 missed: ${FAULT}.`,
      '',
    ].join('\n'),
  );
  expect((await run(['build'])).code).toBe(0);
  const status = await run(['status']);
  expect(status.stdout).toContain(
    `  acme: vendor's report anthropic-messages lacks 9 days since ${SINCE}: ${FAULT}\n`,
  );
  expect(status.stdout).not.toContain('anthropic-costs');
  const coverage = await run([
    ...['report', 'coverage', '--org', 'acme', '--group-by', 'vendor'],
    ...['--from', SINCE, '--to', addDays(TODAY, -1)],
  ]);
  expect(coverage.code).toBe(0);
  expect(coverage.stderr).toContain(
    `The vendor's report anthropic-messages lacks 9 days since ${SINCE}: ${FAULT}.`,
  );
  expect(coverage.stdout).toMatch(
    /^Anthropic's agents: events have \d+\.\d % of what Anthropic billed in \d{4}-\d\d\.$/m,
  );
  const listed = await run(['pull', 'list', '--org', 'acme']);
  expect(listed.stdout).not.toContain(KEY);
  // Tables fit; a sentence can be longer.
  for (const { stdout } of [status, coverage, listed])
    for (const line of stdout.split('\n'))
      if (!/^ {2}acme: |^[a-z-]+: |Z anthropic-/.test(line))
        expect(line.length, line).toBeLessThanOrEqual(80);

  refused.isRefused = false;
  const again = await run(['pull', '--org', 'acme', '--json']);
  expect(again.code).toBe(0);
  expect(JSON.parse(again.stdout).pulls.map((pull: object) => ({ ...pull, pulledAt: 0 }))).toEqual([
    { report: 'anthropic-claude-code', pulledAt: 0, days: 9, changed: 0, missed: [], fault: '' },
    { report: 'anthropic-costs', pulledAt: 0, days: 9, changed: 0, missed: [], fault: '' },
    { report: 'anthropic-messages', pulledAt: 0, days: 9, changed: 9, missed: [], fault: '' },
  ]);
  expect((await run(['status'])).stdout).not.toContain("vendor's report");
});

test('the service pulls at night', async () => {
  const { vendor, refused, data, env, run, settings } = await prepared();
  refused.isRefused = false;
  await run(['pull', 'set', '-', '--org', 'acme'], JSON.stringify(settings));
  expect((await run(['pull', '--org', 'acme'])).code).toBe(0);
  /** Starts the service with a night in the next minute; again if it begins before the service serves. */
  const started = async (): Promise<ChildProcess> => {
    // The vendor changes its numbers.
    vendor.now += 3 * MS_PER_DAY;
    vendor.requests = [];
    const night = Math.ceil((Date.now() + 15_000) / 60_000) * 60_000;
    const at = new Date(night).toISOString().slice(11, 16);
    const service = start(['--data', data, 'serve', '--port', '0'], {
      env: { ...env, DAYBOOK_LOG_LEVEL: 'warn', DAYBOOK_BUILD_AT: at },
    });
    let said = '';
    service.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await until(() => said.includes('Daybook serves on'));
    if (Date.now() < night) return service;
    service.kill('SIGTERM');
    await once(service, 'close');
    return started();
  };
  const service = await started();
  // What was pulled a minute ago isn't pulled again at the start.
  expect(vendor.requests).toEqual([]);
  await until(() => vendor.requests.length >= 27);
  const list = async () => JSON.parse((await run(['pull', 'list', '--org', 'acme', '--json'])).stdout);
  await until(async () => (await list()).pulls.every(({ changed }: { changed: number }) => changed < 9));
  const { pulls } = await list();
  const costs = pulls.find(({ report }: { report: string }) => report === 'anthropic-costs');
  expect(costs).toMatchObject({ days: 9, missed: [], fault: '' });
  expect(costs.changed).toBeGreaterThan(0);
  service.kill('SIGTERM');
  await once(service, 'close');
});
