import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ANSWERS, type Answer, isTotals } from '../api/answer-names.js';
import type { ReportRequest } from '../api/answer-rows.js';
import {
  createKeys,
  KeyEmail,
  KeyEnd,
  KeyName,
  KeyUser,
  listKeys,
  revokeKey,
  saveKeyUses,
  USERS_AT_MOST,
} from '../api/api-keys.js';
import { Month } from '../api/budget-query.js';
import { knownOrganization, noDataSentence, reportRange } from '../api/report-range.js';
import { Role } from '../api/roles.js';
import { Totals } from '../api/totals-query.js';
import type { Controls } from '../controls/control-revisions.js';
import { SecretKey } from '../controls/secret-key.js';
import { addDays, type Day, DaySchema, dayOf, lastClosedDay, laterDay } from '../day.js';
import { messageOf, reasonOf, UsageError } from '../exit.js';
import type { SetAside } from '../ingest/set-aside.js';
import { nameText } from '../input/name-text.js';
import { nearestName } from '../input/nearest-name.js';
import type { Lake } from '../lake/data-lake.js';
import { costTermsOf } from '../money/cost-terms.js';
import { LINES_AT_MOST, PeopleLine } from '../people/people-line.js';
import type { Config } from '../settings/config.js';
import { listOrganizations, removeOrganization } from '../store/organization.js';
import { readSql } from '../store/sql-text.js';
import { logPath, writeLog } from '../store/state/access-log.js';
import {
  BUDGET_SCOPES,
  Budget,
  type BudgetRevision,
  Budgets,
  changeBudgets,
  newestBudgets,
} from '../store/state/budget-revisions.js';
import { type Person, peopleOf, proposedAliases, usersOf } from '../store/state/person.js';
import { changePrivacy, privacyOf } from '../store/state/privacy-revisions.js';
import { troubledReports } from '../store/state/vendor-pulls.js';
import { rosterProposals } from '../store/state/vendor-roster.js';
import type { Store } from '../store/store.js';
import type { Progress } from '../terminal/terminal.js';
import { serviceSettings } from './service-settings.js';

/** The context of a command, in whichever process has the database open. */
export interface Context {
  readonly store: Store;
  readonly config: Config;
  readonly lake: Lake;
  /** Settles all events acknowledged so far, and answers which are set aside. Throws if the store fails. */
  readonly settle: () => Promise<readonly SetAside[]>;
  /** The bodies that can't be settled at present. */
  readonly setAside: () => Promise<readonly SetAside[]>;
  /** Takes work that continues after the answer. */
  readonly afterwards: (work: Promise<void>) => void;
  /** Aborts when the process is about to end, with the error for the command's user. */
  readonly stopping?: AbortSignal;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** The routes of the service; undefined if none runs. */
  readonly app?: FastifyInstance;
  /** The public address of the service; undefined if none runs. */
  readonly url?: string;
}

const File = z.strictObject({ path: z.string(), size: z.number(), state: z.string().optional() });

/** The arguments of each command, as they are sent to another process. */
export const Arguments = {
  ingest: z.strictObject({
    orgId: z.string(),
    source: z.string(),
    userId: nameText(128).optional(),
    files: z.array(File),
    /** Whether to make the organization, although another is nearly called so. */
    isNew: z.boolean(),
  }),
  local: z.strictObject({
    userId: nameText(128),
    agents: z.array(z.strictObject({ source: z.string(), files: z.array(File) })),
    from: DaySchema,
    rows: z.enum(['day', 'week', 'month', 'model']),
  }),
  build: z.strictObject({
    from: DaySchema.optional(),
    to: DaySchema.optional(),
    all: z.boolean().optional(),
  }),
  status: z.strictObject({}),
  settings: z.strictObject({}),
  report: z.strictObject({
    answer: z.enum(ANSWERS),
    /** By default the only organization, and the days of `reportRange`. */
    orgId: z.string().optional(),
    from: DaySchema.optional(),
    to: DaySchema.optional(),
    groupBy: z.string().optional(),
    /** Reads the rows that were published at this instant: Unix milliseconds. */
    asOf: z.number().optional(),
    limit: z.int().min(1).optional(),
    totals: Totals.optional(),
  }),
  checkPrices: z.strictObject({}),
  usePrices: z.strictObject({}),
  verifyLake: z.strictObject({ orgId: z.string().optional() }),
  publishLake: z.strictObject({}),
  createKey: z.strictObject({
    orgId: z.string(),
    role: Role,
    name: KeyName.optional(),
    userId: KeyUser.optional(),
    email: KeyEmail.optional(),
    /** A key for each of these, instead of one. */
    users: z
      .array(z.strictObject({ userId: KeyUser, email: KeyEmail.optional() }))
      .max(USERS_AT_MOST)
      .optional(),
    expiresAt: KeyEnd.optional(),
    /** Whether to make the organization, although another is nearly called so. */
    isNew: z.boolean(),
  }),
  listKeys: z.strictObject({ orgId: z.string().optional() }),
  listOrganizations: z.strictObject({}),
  removeOrganization: z.strictObject({ orgId: z.string() }),
  revokeKey: z.strictObject({ name: z.string() }),
  signInLink: z.strictObject({
    orgId: z.string().optional(),
    url: z.string(),
    query: z.string().optional(),
  }),
  listPeople: z.strictObject({ orgId: z.string() }),
  proposePeople: z.strictObject({ orgId: z.string() }),
  importPeople: z.strictObject({
    orgId: z.string(),
    lines: z.array(PeopleLine).max(LINES_AT_MOST),
    /** Whether people whom no line names go. */
    replaces: z.boolean(),
    /** Whether only to find out what would change. */
    isTrial: z.boolean(),
    user: nameText(128),
  }),
  getPrivacy: z.strictObject({ orgId: z.string() }),
  setPrivacy: z.strictObject({ orgId: z.string(), change: z.unknown(), user: nameText(128) }),
  listBudgets: z.strictObject({ orgId: z.string() }),
  changeBudget: z.strictObject({
    orgId: z.string(),
    /** Without dollars it is removed. */
    budget: z.strictObject({
      scope: z.enum(BUDGET_SCOPES),
      name: z.string().nullable(),
      usd: z.number().nullable(),
    }),
    user: nameText(128),
  }),
  reportBudgets: z.strictObject({
    orgId: z.string().optional(),
    month: Month.optional(),
  }),
  getAlerts: z.strictObject({ orgId: z.string() }),
  setAlerts: z.strictObject({ orgId: z.string(), settings: z.unknown(), user: nameText(128) }),
  testAlerts: z.strictObject({ orgId: z.string(), way: z.string() }),
  getVendors: z.strictObject({ orgId: z.string() }),
  setVendors: z.strictObject({ orgId: z.string(), settings: z.unknown(), user: nameText(128) }),
  pull: z.strictObject({ orgId: z.string() }),
  erasePerson: z.strictObject({
    orgId: z.string(),
    erased: z.string().min(1).max(320),
    /** Whether only to find out what would change. */
    isTrial: z.boolean(),
    user: nameText(128),
  }),
  getControls: z.strictObject({ orgId: z.string() }),
  setControls: z.strictObject({
    orgId: z.string(),
    settings: z.unknown(),
    user: nameText(128),
    revision: z.int().min(0).optional(),
  }),
  listControls: z.strictObject({ orgId: z.string(), limit: z.int().min(1).max(100) }),
  diffControls: z.strictObject({
    orgId: z.string(),
    from: z.int().min(0).optional(),
    to: z.int().min(0).optional(),
  }),
  callTool: z.strictObject({
    /** By default the only organization. */
    orgId: z.string().optional(),
    name: z.string(),
    args: z.record(z.string(), z.unknown()),
  }),
  writeAccessLog: z.strictObject({ orgId: z.string().optional(), id: z.string().regex(/^[0-9a-f]{32}$/) }),
  hold: z.strictObject({ id: z.uuid() }),
};

type Of<Name extends keyof typeof Arguments> = z.infer<(typeof Arguments)[Name]>;

async function isOrganization(store: Store, orgId: string): Promise<boolean> {
  const found = await store.select('SELECT 1 AS found FROM organizations WHERE org_id = $org_id', {
    org_id: orgId,
  });
  return found.length > 0;
}

/** Throws a UsageError if an organization doesn't exist, for example because of a typing error. */
async function requireKnown(store: Store, orgId: string): Promise<void> {
  if (!(await isOrganization(store, orgId)))
    throw new UsageError(`There is no organization ${orgId}: "daybook organizations" lists them.`);
}

async function controlsOf({ store, config, clock }: Context, orgId: string): Promise<Controls> {
  await requireKnown(store, orgId);
  const { Controls } = await import('../controls/control-revisions.js');
  return new Controls(store, new SecretKey(config), clock);
}

/** The names of all organizations, in order. */
async function organizationNames(store: Store): Promise<string[]> {
  const rows = await store.select('SELECT org_id FROM organizations ORDER BY org_id');
  return rows.map(({ org_id }) => String(org_id));
}

/** Whether an organization is there, and else the one that is nearly called so, if one is. */
async function lookUp(
  store: Store,
  orgId: string,
): Promise<{ isThere: boolean; nearest: string | undefined }> {
  const names = await organizationNames(store);
  const isThere = names.includes(orgId);
  return { isThere, nearest: isThere ? undefined : nearestName(orgId, names) };
}

/** The named organization, or the only one. Throws a UsageError that lists the organizations. */
async function organizationOf({ store }: Context, orgId: string | undefined): Promise<string> {
  return knownOrganization(orgId, await organizationNames(store));
}

/** The rows of an answer: the present ones, or those that were published at an instant. */
async function rowsOf(
  { store, config, clock }: Context,
  answer: Answer,
  request: ReportRequest,
  asOf: number | undefined,
) {
  if (asOf === undefined) {
    const { report } = await import('../api/answer-rows.js');
    return (await report(store, answer, request)).data;
  }
  const { earlierReport } = await import('../sql/earlier-report.js');
  return earlierReport(store, config, answer, request, asOf, clock());
}

/** The rows of an answer with their organization and range, and a sentence if the range has no data. */
async function printedReport(context: Context, { answer, ...asked }: Of<'report'>) {
  const { store, config, clock } = context;
  const { historyStart } = config;
  const orgId = await organizationOf(context, asked.orgId);
  const found = await store.select(readSql('state/data_days.sql'), {
    org_id: orgId,
    from: { day: historyStart },
  });
  const dataDays = found.map(({ day }) => day as Day);
  const range = reportRange(asked, dataDays, lastClosedDay(clock()), historyStart);
  const { totals = {} } = asked;
  const { faultOfComparison } = await import('../api/totals-query.js');
  const [option, fault] = faultOfComparison({ ...totals, ...range }) ?? [];
  if (option !== undefined) throw new UsageError(`--${option} ${fault}.`);
  const request = {
    ...{ orgId, from: laterDay(range.from, historyStart), to: range.to },
    ...{ groupBy: asked.groupBy, limit: asked.limit, totals: asked.totals, historyStart },
    ...(isTotals(answer) ? { terms: await costTermsOf(store, orgId) } : {}),
  };
  const { belongingSettings } = await import('../api/answer-rows.js');
  const settings = await belongingSettings(store, answer, request);
  return {
    orgId,
    ...range,
    rows: await rowsOf(context, answer, { ...request, ...settings }, asked.asOf),
    noData: noDataSentence(orgId, range, dataDays),
    /** Vendors' reports that lack something, which coverage compares with. */
    lacking: answer === 'coverage' ? await troubledReports(store, orgId, lastClosedDay(clock())) : [],
  };
}

type ErasureParts = Pick<Context, 'store' | 'lake' | 'config' | 'settle' | 'clock'>;

function erasureContext({ store, lake, config, settle, clock }: ErasureParts) {
  return { store, lake, data: config.data, settle, clock };
}

/** Finishes erasures that were interrupted. */
export async function finishErasuresIn(parts: ErasureParts): Promise<number> {
  const [open] = await parts.store.select(
    'SELECT count(*) AS erasures FROM erasures WHERE finished_at IS NULL',
  );
  if (Number(open?.erasures) === 0) return 0;
  const { finishErasures } = await import('../people/erasure.js');
  return finishErasures(erasureContext(parts), userInfo().username);
}

/** The error of a build if acknowledged events can't be settled: days built now would lack them. */
function notSettled(data: string, cause: unknown): Error {
  const sentence = `No day was built, because events in ${join(data, 'inbox')} could not be settled (${reasonOf(cause)}). Remove the cause and run "daybook build" again.`;
  // An error with a path is about a file of the inbox, not about the store.
  const isOfInbox = cause instanceof Error && 'path' in cause;
  return isOfInbox ? new UsageError(sentence) : new Error(sentence, { cause });
}

/** Something set aside, as commands tell it. */
function told({ path, reason }: SetAside): SetAside {
  return { path, reason };
}

/** The commands. Results are JSON. Modules that only one command needs are loaded when it runs. */
export const commands = {
  /** Takes in files. If the organization would be new and is nearly called as another, it takes nothing and answers the other. */
  ingest: async (
    { store, clock, stopping }: Context,
    { isNew, ...request }: Of<'ingest'>,
    progress: Progress,
  ) => {
    const { nearest } = await lookUp(store, request.orgId);
    if (!isNew && nearest !== undefined) return { nearest };
    const [{ ingest }, { sourceOf }] = await Promise.all([
      import('../ingest/ingest-files.js'),
      import('../ingest/source.js'),
    ]);
    const total = request.files.reduce((sum, { size }) => sum + size, 0);
    return ingest(
      store,
      { ...request, source: sourceOf(request.source) },
      clock,
      (done) => progress(done, total),
      stopping,
    );
  },
  /** One person's numbers of the sessions on this machine. */
  local: async ({ store, clock }: Context, { agents, ...request }: Of<'local'>, progress: Progress) => {
    const [{ localNumbers }, { sourceOf }] = await Promise.all([
      import('../aggregate/local-numbers.js'),
      import('../ingest/source.js'),
    ]);
    const all = agents.map(({ source, files }) => ({ source: sourceOf(source), files }));
    return localNumbers(store, { ...request, agents: all }, clock, progress);
  },
  build: async (
    { store, config, lake, clock, settle, afterwards, app }: Context,
    range: Of<'build'>,
    progress: Progress,
  ) => {
    await finishErasuresIn({ store, lake, config, settle, clock });
    const setAside = await settle().catch((error: unknown) => {
      throw notSettled(config.data, error);
    });
    const { runBuild } = await import('../aggregate/build-run.js');
    const { published, finished, ...built } = await runBuild(store, 'command', range, clock, {
      retentionDays: config.retentionDays,
      progress,
      publish: (days) => lake.publish(store, days),
    });
    // The next command may be SQL, which reads the lake.
    const error = await published.then(() => null, messageOf);
    afterwards(finished);
    // Without a service, the process of the command ends with the error.
    return { ...built, setAside: setAside.map(told), error: app === undefined ? null : error };
  },
  verifyLake: ({ store, lake }: Context, { orgId }: Of<'verifyLake'>) => lake.verify(store, orgId),
  publishLake: ({ store, lake }: Context, _: Of<'publishLake'>) => lake.repair(store),
  status: async (context: Context, _: Of<'status'>) => {
    const [{ organizationStatus }, { newestRun }] = await Promise.all([
      import('../store/organization-status.js'),
      import('../aggregate/build-run.js'),
    ]);
    return {
      organizations: await organizationStatus(context.store, lastClosedDay(context.clock())),
      /** Null before the first build. */
      last_run: (await newestRun(context.store)) ?? null,
      set_aside: (await context.setAside()).map(told),
    };
  },
  report: printedReport,
  settings: async ({ config }: Context, _: Of<'settings'>) => serviceSettings(config),
  checkPrices: async ({ store }: Context, _: Of<'checkPrices'>) => {
    const models = await store.select(readSql('report/unpriced_models.sql'));
    return models.map(({ model_id, first_day, last_day, unpriced_tokens, ratio, reason }) => ({
      model_id: String(model_id),
      first_day: first_day as Day,
      last_day: last_day as Day,
      unpriced_tokens: Number(unpriced_tokens),
      ratio: Number(ratio),
      reason: String(reason),
    }));
  },
  /** Makes changed files of reference data count. Opening a store has done the same. */
  usePrices: async ({ store }: Context, _: Of<'usePrices'>) => {
    return { replaced: await store.refresh() };
  },
  /** Creates keys. Refuses an organization as `ingest` does. */
  createKey: async ({ store, clock }: Context, { isNew, users, ...wanted }: Of<'createKey'>) => {
    const { isThere, nearest } = await lookUp(store, wanted.orgId);
    if (!isNew && nearest !== undefined) return { nearest };
    const all = users === undefined ? [wanted] : users.map((user) => ({ ...wanted, ...user }));
    return { keys: await createKeys(store, all, clock()), isNew: !isThere };
  },
  listKeys: async ({ store }: Context, { orgId }: Of<'listKeys'>) => {
    await saveKeyUses(store);
    return listKeys(store, orgId);
  },
  listOrganizations: ({ store, clock }: Context, _: Of<'listOrganizations'>) =>
    listOrganizations(store, clock()),
  removeOrganization: async ({ store, clock, settle }: Context, { orgId }: Of<'removeOrganization'>) => {
    await settle();
    await removeOrganization(store, orgId, clock());
    return {};
  },
  revokeKey: async ({ store, clock }: Context, { name }: Of<'revokeKey'>) => {
    const key = await revokeKey(store, name, clock());
    if (key === undefined)
      throw new UsageError(`There is no key ${name}: "daybook keys list" shows ids and fingerprints.`);
    return key;
  },
  signInLink: async (context: Context, { orgId, url, query }: Of<'signInLink'>) => {
    const { store, config, clock } = context;
    // The service knows its own address; the caller's settings may differ.
    const link = { orgId: await organizationOf(context, orgId), url: context.url ?? url, query };
    const { signInLink } = await import('../sign-in/tickets.js');
    return {
      link: await signInLink(store, new SecretKey(config), clock, link),
      isServed: context.url !== undefined,
    };
  },
  listPeople: async ({ store }: Context, { orgId }: Of<'listPeople'>) => {
    await requireKnown(store, orgId);
    return peopleOf(store, orgId);
  },
  proposePeople: async ({ store, clock }: Context, { orgId }: Of<'proposePeople'>) => {
    await requireKnown(store, orgId);
    const { rosterFile } = await import('../people/roster-file.js');
    const listed = await rosterProposals(store, orgId, clock());
    const { people } = await peopleOf(store, orgId);
    return {
      proposals: await proposedAliases(store, orgId),
      listed,
      file: rosterFile(listed, people, dayOf(clock())),
    };
  },
  importPeople: async (
    { store, clock }: Context,
    { orgId, lines, replaces, isTrial, user }: Of<'importPeople'>,
  ) => {
    await requireKnown(store, orgId);
    const now = clock();
    const [{ withLines }, { replacePeople }] = await Promise.all([
      import('../people/people-file.js'),
      import('../people/people-change.js'),
    ]);
    const make = (before: readonly Person[]) => withLines(before, lines, { today: dayOf(now), replaces });
    return replacePeople(store, orgId, make, { author: user, isTrial }, now);
  },
  getPrivacy: async ({ store }: Context, { orgId }: Of<'getPrivacy'>) => {
    await requireKnown(store, orgId);
    return privacyOf(store, orgId);
  },
  setPrivacy: async ({ store, clock }: Context, { orgId, change, user }: Of<'setPrivacy'>) => {
    await requireKnown(store, orgId);
    const { PrivacyChange } = await import('../api/privacy-routes.js');
    const { change: wanted } = checked(z.object({ change: PrivacyChange }), { change });
    const auditors = await usersOf(store, orgId, wanted.auditors);
    return changePrivacy(store, orgId, () => ({ ...wanted, auditors }), user, clock());
  },
  listBudgets: async ({ store }: Context, { orgId }: Of<'listBudgets'>) => {
    await requireKnown(store, orgId);
    return newestBudgets(store, orgId);
  },
  changeBudget: async ({ store, clock }: Context, { orgId, budget, user }: Of<'changeBudget'>) => {
    await requireKnown(store, orgId);
    const { scope, name, usd } = budget;
    if (usd !== null) checked(Budget, budget);
    const make = ({ budgets }: BudgetRevision) => {
      const others = budgets.filter((one) => one.scope !== scope || one.name !== name);
      if (usd !== null) return checked(Budgets, [...others, { scope, name, usd }]);
      if (others.length < budgets.length) return others;
      throw new UsageError(`There is no such budget: "daybook budgets list --org ${orgId}" lists them.`);
    };
    return changeBudgets(store, orgId, make, user, clock());
  },
  reportBudgets: async (context: Context, { orgId: asked, month }: Of<'reportBudgets'>) => {
    const { store, config, clock } = context;
    const orgId = await organizationOf(context, asked);
    const { objectsOf } = await import('../api/answer-rows.js');
    const { preparedBudgets, readBudgets } = await import('../api/budget-rows.js');
    const prepared = await preparedBudgets(store, { orgId, month }, config.historyStart, clock());
    const rows = await store.snapshot(async (select, readColumns) =>
      objectsOf(await readBudgets(select, readColumns, prepared, 'json')),
    );
    return { orgId, month: prepared.days.month, rows };
  },
  /** The settings without secrets, the alerts that hold, and the messages that could not be delivered. */
  getAlerts: async ({ store, clock }: Context, { orgId }: Of<'getAlerts'>) => {
    await requireKnown(store, orgId);
    const [{ sealedAlerts }, { alertsSince, newestDeliveries }, { sentenceOf }] = await Promise.all([
      import('../alerts/alert-settings.js'),
      import('../store/state/alert-log.js'),
      import('../alerts/message.js'),
    ]);
    const alerts = (await alertsSince(store, orgId, clock())).filter(({ endedAt }) => endedAt === null);
    const messages = await newestDeliveries(store, orgId, 100);
    return {
      settings: (await sealedAlerts.newest(store, orgId)).settings,
      alerts: alerts.map((alert) => ({ beganAt: alert.beganAt, text: sentenceOf(alert) })),
      undelivered: messages
        .filter(({ state }) => state === 'undelivered')
        .map(({ deliveryId, way, madeAt, answer }) => ({ deliveryId, way, madeAt, answer })),
    };
  },
  setAlerts: async ({ store, config, clock }: Context, { orgId, user, ...given }: Of<'setAlerts'>) => {
    await requireKnown(store, orgId);
    const { AlertSettings, sealedAlerts } = await import('../alerts/alert-settings.js');
    const { settings } = checked(z.object({ settings: AlertSettings }), given);
    return sealedAlerts.change(store, orgId, settings, new SecretKey(config), user, clock());
  },
  /** Sends a test one way out. Null if it arrived, else why it didn't. */
  testAlerts: async ({ store, config, clock }: Context, { orgId, way: name }: Of<'testAlerts'>) => {
    await requireKnown(store, orgId);
    const { sendTest } = await import('../alerts/alarm.js');
    const answer = await sendTest({ store, config, key: new SecretKey(config), clock }, orgId, name);
    if (answer === undefined)
      throw new UsageError(`There is no way ${name}: "daybook alerts list --org ${orgId}" lists them.`);
    return { answer };
  },
  /** The vendors without keys, the last pull of each report, and how much of what they report better channels have. */
  getVendors: async ({ store, clock }: Context, { orgId }: Of<'getVendors'>) => {
    await requireKnown(store, orgId);
    const [{ sealedVendors }, { newestPulls }, { capturedShares }] = await Promise.all([
      import('../vendors/vendor-settings.js'),
      import('../store/state/vendor-pulls.js'),
      import('../vendors/captured-shares.js'),
    ]);
    const { settings } = await sealedVendors.newest(store, orgId);
    const to = lastClosedDay(clock());
    const captured = await capturedShares(store, orgId, addDays(to, -29), to);
    return { settings, pulls: await newestPulls(store, orgId), captured };
  },
  setVendors: async ({ store, config, clock }: Context, { orgId, user, ...given }: Of<'setVendors'>) => {
    await requireKnown(store, orgId);
    const { VendorSettings, sealedVendors } = await import('../vendors/vendor-settings.js');
    const { settings } = checked(z.object({ settings: VendorSettings }), given);
    return sealedVendors.change(store, orgId, settings, new SecretKey(config), user, clock());
  },
  pull: async ({ store, config, clock, stopping }: Context, { orgId }: Of<'pull'>) => {
    await requireKnown(store, orgId);
    const { pullOrganization } = await import('../vendors/pull-reports.js');
    const key = new SecretKey(config);
    const deps = { store, config, key, clock, ...(stopping === undefined ? {} : { stopping }) };
    return { pulls: await pullOrganization(deps, orgId) };
  },
  erasePerson: async (context: Context, { orgId, erased, isTrial, user }: Of<'erasePerson'>) => {
    await requireKnown(context.store, orgId);
    const { erasePerson } = await import('../people/erasure.js');
    return erasePerson(erasureContext(context), { orgId, user: erased, author: user, isTrial });
  },
  getControls: async (context: Context, { orgId }: Of<'getControls'>) =>
    (await controlsOf(context, orgId)).current(orgId),
  setControls: async (context: Context, { orgId, user, revision, ...given }: Of<'setControls'>) => {
    // No other command needs this large schema.
    const { Settings } = await import('../controls/control-settings.js');
    const { settings } = checked(z.object({ settings: Settings }), given);
    return (await controlsOf(context, orgId)).replace(
      orgId,
      settings,
      { id: user, email: '', name: user },
      revision === undefined ? {} : { isExpected: (newest) => newest === revision },
    );
  },
  listControls: async (context: Context, { orgId, limit }: Of<'listControls'>) =>
    (await controlsOf(context, orgId)).history(orgId, limit),
  /** Without `from` and `to`: the newest change. */
  diffControls: async (context: Context, { orgId, from, to }: Of<'diffControls'>) => {
    const controls = await controlsOf(context, orgId);
    const newer = to ?? (await controls.current(orgId)).revision;
    const older = from ?? Math.max(0, newer - 1);
    return { from: older, to: newer, differences: await controls.difference(orgId, older, newer) };
  },
  /** Stops when its caller has gone. */
  callTool: async (
    context: Context,
    { orgId, ...called }: Of<'callTool'>,
    _: Progress,
    isLeft: Promise<void>,
  ) => {
    const left = new AbortController();
    isLeft.then(() => left.abort());
    const { callLocally } = await import('../mcp/local-tools.js');
    return callLocally(context, { ...called, orgId: await organizationOf(context, orgId) }, left.signal);
  },
  /** Writes the access log to a file of the data folder, which the caller removes. */
  writeAccessLog: async ({ store, config }: Context, { orgId, id }: Of<'writeAccessLog'>) => {
    await writeLog(store, logPath(config.data, id), orgId);
    return {};
  },
  /** Reports the instant whose state the files keep, and holds them until the caller has gone. */
  hold: async (
    { store, config, clock }: Context,
    { id }: Of<'hold'>,
    progress: Progress,
    isLeft: Promise<void>,
  ) => {
    const { hold } = await import('../backup/held-files.js');
    return hold({ store, data: config.data, clock }, id, (heldAt) => {
      progress(heldAt, heldAt);
      return isLeft;
    });
  },
};

export type CommandName = keyof typeof commands;
export type CommandArguments<Name extends CommandName> = z.input<(typeof Arguments)[Name]>;
export type CommandResult<Name extends CommandName> = Awaited<ReturnType<(typeof commands)[Name]>>;

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commands, name);
}

const OPTIONS: Record<string, string> = {
  orgId: '--org',
  userId: '--user',
  email: '--email',
  groupBy: '--group-by',
  asOf: '--as-of',
};

/** The sentence for arguments that a command refuses, with the name of the option. */
function sentenceOf({ issues: [issue] }: z.ZodError): string {
  const [name, ...inner] = issue?.path.map(String) ?? [];
  return `${[OPTIONS[String(name)] ?? name, ...inner].join('.')} ${issue?.message}.`;
}

/** Parses arguments. Throws a UsageError that names the wrong one. */
function checked<T>(schema: z.ZodType<T>, args: unknown): T {
  const parsed = schema.safeParse(args);
  if (!parsed.success) throw new UsageError(sentenceOf(parsed.error));
  return parsed.data;
}

/** Runs a command by its name, after checking its arguments. `isLeft` resolves when its caller has gone. */
export async function runCommand(
  context: Context,
  name: string,
  args: unknown,
  progress: Progress,
  isLeft: Promise<void> = new Promise(() => {}),
): Promise<unknown> {
  if (!isCommand(name))
    throw new UsageError(
      `The running service has no command ${name}: it may be another version, so restart it.`,
    );
  // A name's schema and function match, but TypeScript can't see that.
  const run = commands[name] as (
    context: Context,
    args: unknown,
    progress: Progress,
    isLeft: Promise<void>,
  ) => Promise<unknown>;
  return run(context, checked<unknown>(Arguments[name], args), progress, isLeft);
}
