import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { SecretKey } from '../controls/secret-key.js';
import { addDays, type Day, dayOf, lastClosedDay } from '../day.js';
import { rm } from '../disk/renames.js';
import { nextRun } from '../ingest/ingest-files.js';
import { isAllowedHost } from '../network/allowed-host.js';
import type { Config } from '../settings/config.js';
import { requireOrganization } from '../store/organization.js';
import { meaningOfSource } from '../store/source-sql.js';
import { erasedIn } from '../store/state/erased-names.js';
import { OneAtATime } from '../store/state/of-store.js';
import { nameHash } from '../store/state/organization-secret.js';
import { billedDays, replaceBilledDays } from '../store/state/vendor-bills.js';
import { forgetOtherPulls, newestPulls, notePull, type Pull } from '../store/state/vendor-pulls.js';
import { organizationsWithVendors } from '../store/state/vendor-revisions.js';
import { removeOtherRosters, replaceRoster } from '../store/state/vendor-roster.js';
import type { Batch, Store } from '../store/store.js';
import { ANTHROPIC_CLAUDE_CODE } from './anthropic.js';
import { ANTHROPIC_COSTS, ANTHROPIC_MESSAGES } from './anthropic-bills.js';
import { ANTHROPIC_ENTERPRISE_ACTIVITY, ANTHROPIC_ENTERPRISE_USAGE } from './anthropic-enterprise.js';
import { CURSOR_DAILY, CURSOR_USAGE } from './cursor.js';
import { GITHUB_COPILOT } from './github.js';
import { GITHUB_AI_CREDITS } from './github-bills.js';
import { OPENAI_CODEX } from './openai.js';
import { OPENAI_API_CODEX } from './openai-api.js';
import { OPENAI_COMPLETIONS, OPENAI_COSTS } from './openai-bills.js';
import { ROSTERS, type Roster } from './rosters.js';
import { type Bill, billLines } from './vendor-bill.js';
import { PullFault, VendorClient } from './vendor-client.js';
import type { Report, ReportRow } from './vendor-report.js';
import { sealedVendors, type Vendor, type VendorName } from './vendor-settings.js';

/** How long a report may take, since the build of the night waits for it: milliseconds. */
const PULL_MS = 20 * 60_000;
/** How long all pulls of a night may take. */
const NIGHT_MS = 30 * 60_000;
/** How many changed days are replaced together. */
const DAYS_TOGETHER = 50;
/** After so many days in a row that couldn't be fetched, the rest is left to the next pull. */
const FAULTS_AT_MOST = 3;
/** A service that was down when a pull was due makes up for it. */
const DUE_AFTER_MS = 24 * 60 * 60_000;

interface Api {
  /** Its name in sentences. */
  readonly title: string;
  readonly base: string;
  readonly headers: (key: string) => Record<string, string>;
  readonly reports: readonly Report[];
  readonly bills?: readonly Bill[];
  /** Where the files are to which its answers link. */
  readonly linkHosts?: readonly string[];
}

/** A key as the user of basic authentication, without a password (RFC 7617). */
const basicOf = (key: string) => Buffer.from(`${key}:`).toString('base64');

const ANTHROPIC = {
  title: 'Anthropic',
  base: 'https://api.anthropic.com',
  headers: (key: string) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
};

const APIS: Readonly<Record<VendorName, Api>> = {
  anthropic: {
    ...ANTHROPIC,
    reports: [ANTHROPIC_CLAUDE_CODE],
    bills: [ANTHROPIC_COSTS, ANTHROPIC_MESSAGES],
  },
  'anthropic-enterprise': {
    ...ANTHROPIC,
    reports: [ANTHROPIC_ENTERPRISE_USAGE, ANTHROPIC_ENTERPRISE_ACTIVITY],
  },
  cursor: {
    title: 'Cursor',
    base: 'https://api.cursor.com',
    headers: (key) => ({ authorization: `Basic ${basicOf(key)}` }),
    reports: [CURSOR_USAGE, CURSOR_DAILY],
  },
  github: {
    title: 'GitHub',
    base: 'https://api.github.com',
    headers: (key) => ({
      ...{ authorization: `Bearer ${key}`, accept: 'application/vnd.github+json' },
      'x-github-api-version': '2026-03-10',
    }),
    reports: [GITHUB_COPILOT],
    bills: [GITHUB_AI_CREDITS],
    linkHosts: ['copilot-reports.github.com', '*.b01.azurefd.net', '*.blob.core.windows.net'],
  },
  openai: {
    title: 'OpenAI',
    base: 'https://api.chatgpt.com',
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    reports: [OPENAI_CODEX],
  },
  'openai-api': {
    title: 'OpenAI',
    base: 'https://api.openai.com',
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    reports: [OPENAI_API_CODEX],
    bills: [OPENAI_COSTS, OPENAI_COMPLETIONS],
  },
};

/** What pulls work with. */
export interface PullDeps {
  readonly store: Store;
  readonly config: Pick<Config, 'data' | 'vendorHosts'>;
  readonly key: SecretKey;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly pause?: (ms: number) => Promise<unknown>;
  /** Aborts when the service is about to stop. */
  readonly stopping?: AbortSignal;
}

/** A day of a report that isn't as it was. */
interface ChangedDay {
  readonly day: Day;
  readonly text: string;
  readonly state: string;
}

const pulling = new OneAtATime();

/** What is pulled of a vendor, that which is about people first. */
function reportsOf({ vendor, bills }: Vendor): (Report | Bill)[] {
  const { reports, bills: ofVendor = [] } = APIS[vendor];
  return [...reports, ...(bills ? ofVendor : [])];
}

function rostersOf({ vendor, rosters }: Vendor): Roster[] {
  return rosters === false ? [] : ROSTERS.filter((roster) => roster.vendor === vendor);
}

const nameOf = (report: Report | Bill) => ('source' in report ? report.source.name : report.name);

/**
 * Fetches what is due of an organization's vendors, and replaces the days that have changed. Answers a pull for each report. Faults of a vendor
 * are in its pull: they keep no other day and no other report from being fetched.
 */
export function pullOrganization(deps: PullDeps, orgId: string): Promise<Pull[]> {
  return pulling.run(deps.store, async () => {
    const { vendors } = await sealedVendors.open(deps.store, orgId, deps.key);
    const before = new Map((await newestPulls(deps.store, orgId)).map((pull) => [pull.report, pull]));
    const rosters = vendors.flatMap(rostersOf).map(({ name }) => name);
    await forgetOtherPulls(deps.store, orgId, [...vendors.flatMap(reportsOf).map(nameOf), ...rosters]);
    const pulls: Pull[] = [];
    for (const vendor of vendors)
      for (const report of reportsOf(vendor)) {
        const pull = await pullReport(deps, orgId, vendor, report, before.get(nameOf(report)));
        await notePull(deps.store, orgId, pull);
        pulls.push(pull);
      }
    for (const vendor of vendors)
      for (const roster of rostersOf(vendor)) {
        const pull = await pullRoster(deps, orgId, vendor, roster);
        await notePull(deps.store, orgId, pull);
        pulls.push(pull);
      }
    await removeOtherRosters(deps.store, orgId, rosters);
    return pulls;
  });
}

/**
 * Pulls of all organizations, those first that weren't pulled for longest; `isNightly` also of those that were pulled less than a day ago. One that
 * fails doesn't keep the others from it. After `nightMs` the rest is left to the next night.
 */
export async function pullAll(
  deps: PullDeps,
  isNightly: boolean,
  log: { readonly warn: (facts: object, text: string) => void },
  nightMs: number = NIGHT_MS,
): Promise<void> {
  const isOver = AbortSignal.timeout(nightMs);
  const { store, clock, stopping } = deps;
  const until = {
    ...deps,
    stopping: AbortSignal.any([isOver, ...(stopping === undefined ? [] : [stopping])]),
  };
  const due: { readonly orgId: string; readonly lastAt: number }[] = [];
  for (const orgId of await organizationsWithVendors(store)) {
    const lastAt = Math.max(0, ...(await newestPulls(store, orgId)).map(({ pulledAt }) => pulledAt));
    if (isNightly || lastAt <= clock() - DUE_AFTER_MS) due.push({ orgId, lastAt });
  }
  due.sort((one, other) => one.lastAt - other.lastAt);
  for (const { orgId } of due) {
    if (stopping?.aborted === true) return;
    if (isOver.aborted) return log.warn({ org: orgId }, "vendors' reports are pulled next night: time is up");
    try {
      for (const { report, fault } of await pullOrganization(until, orgId))
        if (fault !== '') log.warn({ org: orgId, report, fault }, "a vendor's report could not be pulled");
    } catch (err) {
      log.warn({ err, org: orgId }, "vendors' reports could not be pulled");
    }
  }
}

/** The days that are fetched, the newest first: those that the vendor could still change at the pull before, those that it missed, and unknown ones. */
function dueDays(
  { revisedDays, lateDays = 0 }: { readonly revisedDays: number; readonly lateDays?: number },
  since: Day | null,
  before: Pull | undefined,
  known: ReadonlyMap<string, string>,
  now: number,
): Day[] {
  const last = addDays(lastClosedDay(now), -lateDays);
  const open = addDays(dayOf(Math.min(before?.pulledAt ?? now, now)), -revisedDays);
  const missed = new Set<string>(before?.missed ?? []);
  const [first = open] = [since ?? open, open, ...(before?.missed ?? [])].sort();
  const days: Day[] = [];
  for (let day = last; day >= first; day = addDays(day, -1)) {
    const isUnknown = since !== null && day >= since && !known.has(day);
    if (day >= open ? since === null || day >= since || known.has(day) : missed.has(day) || isUnknown)
      days.push(day);
  }
  return days;
}

/** Why a vendor can't be asked at all; undefined if it can. */
function refusalOf({ key, url }: Vendor, title: string, hosts: readonly string[]): string | undefined {
  if (key === '') return `the key of ${title} can't be decrypted with DAYBOOK_SECRET_KEY: enter it again`;
  return url === null || isAllowedHost(url, hosts)
    ? undefined
    : `DAYBOOK_VENDOR_HOSTS of the service doesn't have ${new URL(url).host}: ask whoever runs it to add it`;
}

/** Asks a vendor, for as long as one report may take. */
function clientOf({ config, clock, pause = wait, stopping }: PullDeps, vendor: Vendor): VendorClient {
  const { title, base, headers, linkHosts = [] } = APIS[vendor.vendor];
  const signals = [AbortSignal.timeout(PULL_MS), ...(stopping === undefined ? [] : [stopping])];
  return new VendorClient({
    ...{ title, base: (vendor.url ?? base).replace(/\/$/, ''), headers: headers(vendor.key) },
    secrets: [vendor.key, basicOf(vendor.key)],
    linkHosts: [...linkHosts, ...config.vendorHosts],
    ...{ pause, clock, signal: AbortSignal.any(signals) },
  });
}

/** Who has a seat, and which team, as of today: see rosters.ts. A list that can't be fetched stays as it was. */
async function pullRoster(deps: PullDeps, orgId: string, vendor: Vendor, roster: Roster): Promise<Pull> {
  const { store, clock, config } = deps;
  const now = clock();
  const pull = { report: roster.name, pulledAt: now, changed: 0, missed: [] };
  const refusal = refusalOf(vendor, APIS[vendor.vendor].title, config.vendorHosts);
  if (refusal !== undefined) return { ...pull, days: 0, fault: refusal };
  try {
    const rows = await roster.fetch(clientOf(deps, vendor), dayOf(now), vendor.account ?? '');
    await requireOrganization(store, orgId, now);
    await replaceRoster(store, orgId, roster.name, rows, now);
    return { ...pull, days: 1, fault: '' };
  } catch (error) {
    if (!(error instanceof PullFault)) throw error;
    return { ...pull, days: 0, fault: error.message };
  }
}

async function pullReport(
  deps: PullDeps,
  orgId: string,
  vendor: Vendor,
  report: Report | Bill,
  before: Pull | undefined,
): Promise<Pull> {
  const { config, clock } = deps;
  const { title } = APIS[vendor.vendor];
  const now = clock();
  const name = nameOf(report);
  const kept =
    'source' in report ? await keptEvents(deps, orgId, report, now) : await keptBill(deps, orgId, report);
  const { known } = kept;
  const due = dueDays(report, vendor.since, before, known, now);
  const refusal = refusalOf(vendor, title, config.vendorHosts);
  if (refusal !== undefined)
    return { report: name, pulledAt: now, days: 0, changed: 0, missed: due, fault: refusal };
  const client = clientOf(deps, vendor);
  const missed: Day[] = [];
  let [days, changed, fault] = [0, 0, ''];
  let inARow = 0;
  let waiting: ChangedDay[] = [];
  const replace = async () => {
    if (waiting.length > 0) await kept.replace(waiting);
    waiting = [];
  };
  for (const day of due) {
    if (inARow >= FAULTS_AT_MOST) {
      missed.push(day);
      continue;
    }
    try {
      const text = await kept.fetch(client, day, vendor.account ?? '');
      inARow = 0;
      days += 1;
      const state = `${hash('md5', text)}${kept.meaning}`;
      if (known.get(day) === state) continue;
      changed += 1;
      waiting.push({ day, text, state });
      if (waiting.length === DAYS_TOGETHER) await replace();
    } catch (error) {
      if (!(error instanceof PullFault)) throw error;
      fault = error.message;
      missed.push(day);
      inARow = error.isOfReport ? FAULTS_AT_MOST : inARow + 1;
    }
  }
  await replace();
  return { report: name, pulledAt: now, days, changed, missed, fault };
}

/** How the days of a report are kept. */
interface Keeping {
  /** The states of the days that are stored. */
  readonly known: ReadonlyMap<string, string>;
  /** What the states have beside a digest of the text: how it is read. */
  readonly meaning: string;
  /** A day as lines, in the same order whatever order they came in. Throws PullFault. */
  readonly fetch: (client: VendorClient, day: Day, account: string) => Promise<string>;
  readonly replace: (days: readonly ChangedDay[]) => Promise<void>;
}

/** What is about people becomes events. */
async function keptEvents(deps: PullDeps, orgId: string, report: Report, now: number): Promise<Keeping> {
  const { store } = deps;
  const rows = await store.select(
    `SELECT path, state FROM ingested_files WHERE org_id = $org_id AND source = $source AND user_id = ''`,
    { org_id: orgId, source: report.source.name },
  );
  const textOf = await lineWriter(store, orgId, now);
  return {
    known: new Map(rows.map(({ path, state }) => [String(path), String(state)])),
    meaning: ` ${meaningOfSource(report.source)}`,
    fetch: async (client, day, account) => textOf(await report.fetch(client, day, account)),
    replace: (days) => replaceDays(deps, orgId, report, days, now),
  };
}

/** A bill has a table of its own. */
async function keptBill({ store }: PullDeps, orgId: string, bill: Bill): Promise<Keeping> {
  return {
    known: await billedDays(store, orgId, bill.name),
    meaning: '',
    fetch: async (client, day, account) => billLines(await bill.fetch(client, day, account)),
    replace: (days) => replaceBilledDays(store, orgId, bill, days),
  };
}

/**
 * Writes the rows of a day as lines, in the same order whatever order they came in. Rows of people who were erased are left out. The key of a
 * row tells people apart where their names may not stand.
 */
async function lineWriter(store: Store, orgId: string, now: number) {
  const isErased = await erasedIn(store, orgId);
  const hashed = await nameHash(store, orgId, 'vendor', now);
  return (rows: readonly ReportRow[]) =>
    rows
      .filter(({ user, email }) => ![user, email].some((name) => name !== null && isErased?.(name) === true))
      .map((row) => JSON.stringify({ ...row, key: hashed(row.user).toString('hex').slice(0, 32) }))
      .sort()
      .map((line) => `${line}\n`)
      .join('');
}

/** Replaces the events of some days by those that the days give now. Cut off anywhere, the next pull does it again. */
async function replaceDays(
  { store, config }: PullDeps,
  orgId: string,
  { source }: Report,
  changed: readonly ChangedDay[],
  now: number,
): Promise<void> {
  await requireOrganization(store, orgId, now);
  const paths: string[] = [];
  try {
    const files = changed.map(({ day, text, state }, index) => {
      const path = join(config.data, `pulled-${process.pid}-${index}.tmp`);
      paths.push(path);
      writeFileSync(path, text, { mode: 0o600 });
      return { path, name: day, state, orgId, receivedAt: now };
    });
    const run = nextRun();
    const batch: Batch = { source, files, settledAt: now };
    const { accepted } = await store.remap({ ...batch, run });
    await store.withdraw({
      ...{ run, orgId, source: source.name, userId: '', events: accepted, files: [] },
      ...{ days: changed.map(({ day }) => day), settledAt: now },
    });
    await store.settle(batch);
  } finally {
    for (const path of paths) await rm(path, { force: true });
  }
}
