import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { SecretKey } from '../controls/secret-key.js';
import { addDays, type Day, dayOf, lastClosedDay } from '../day.js';
import { askOwn } from '../mcp/ask-route.js';
import type { Config } from '../settings/config.js';
import {
  addDigests,
  alertsOfCheck,
  claimDelivery,
  type Delivery,
  dueDeliveries,
  noteAttempt,
  noteCheck,
} from '../store/state/alert-log.js';
import { organizationsWithAlerts } from '../store/state/alert-revisions.js';
import { peopleOf } from '../store/state/person.js';
import { privacyOf } from '../store/state/privacy-revisions.js';
import type { Store } from '../store/store.js';
import { ulid } from '../ulid.js';
import { type AlertSettings, CONDITIONS, isMuted, sealedAlerts, type Way } from './alert-settings.js';
import { conditionsOf, TOLD_ONCE } from './conditions.js';
import { digestMessage } from './digest.js';
import { alertsMessage, type Message, testMessage } from './message.js';
import { sendMail, sendMessage, Undelivered } from './send.js';

/** How often conditions are looked at beside the builds, and messages sent: milliseconds. */
const CHECK_MS = 60 * 60_000;
const SEND_MS = 30_000;
/** When a message is sent again that wasn't taken. After the last time it is undelivered. */
const AGAIN_MS = [1, 5, 30, 120, 360, 720].map((minutes) => minutes * 60_000);
/** How many messages are read at a time, and how many are sent at a time. */
const MESSAGES = 100;
const AT_ONCE = 4;
/** A digest is put out on the first days after its week, not when somebody asks for one later. */
const DIGEST_DAYS = 3;

/** What alerts work with. */
export interface AlarmDeps {
  readonly store: Store;
  readonly config: Config;
  readonly key: SecretKey;
  /** Whose routes digests ask. */
  readonly app: Pick<FastifyInstance, 'inject'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Aborts when the service is about to stop: nothing more is begun then. */
  readonly stopping?: AbortSignal;
}

/** Looks at the conditions of one organization, and puts out what began or ended since the last time. */
export async function checkOrganization(deps: AlarmDeps, orgId: string): Promise<void> {
  const { store, config, clock } = deps;
  const now = clock();
  const { settings } = await sealedAlerts.newest(store, orgId);
  const tells = (what: 'alerts' | 'digest') => settings.ways.filter(({ takes }) => takes.includes(what));
  if (settings.ways.length === 0 && !settings.leads) return;
  const { mode, smallestGroup } = await privacyOf(store, orgId);
  const floor = mode === 'protected' ? smallestGroup : undefined;
  const holding = await conditionsOf({ store, orgId, historyStart: config.historyStart, floor, now });
  const check = {
    ...{ orgId, holding, once: TOLD_ONCE },
    muted: CONDITIONS.filter((condition) => isMuted(settings, condition, dayOf(now))),
    // Programs hear of the end, too.
    ways: tells('alerts').map(({ name, kind }) => ({ name, takesEnds: kind === 'webhook' })),
  };
  await noteCheck(store, check, now);
  await putOutDigests(deps, orgId, settings, tells('digest'), now);
}

/** Puts out the digests of the last whole week, once it is built. */
async function putOutDigests(
  { store }: AlarmDeps,
  orgId: string,
  { leads }: AlertSettings,
  ways: readonly Way[],
  now: number,
): Promise<void> {
  const last = lastClosedDay(now);
  const weekday = (new Date(last).getUTCDay() + 6) % 7;
  const sunday = weekday === 6 ? last : addDays(last, -weekday - 1);
  if (sunday < addDays(last, 1 - DIGEST_DAYS) || !(await isBuilt(store, orgId, addDays(sunday, -6), sunday)))
    return;
  const teams = leads ? [...(await leadsOf(store, orgId, sunday)).keys()] : [];
  const wanted = [
    ...ways.map(({ name }) => ({ way: name, team: '' })),
    ...teams.map((team) => ({ way: '', team })),
  ];
  if (wanted.length > 0) await addDigests(store, orgId, addDays(sunday, -6), wanted, now);
}

async function isBuilt(store: Store, orgId: string, from: Day, to: Day): Promise<boolean> {
  const [row] = await store.select(
    'SELECT count(*) AS days FROM days WHERE org_id = $org_id AND day BETWEEN $from AND $to',
    { org_id: orgId, from: { day: from }, to: { day: to } },
  );
  return Number(row?.days) === 7;
}

/** The addresses of the leads of each team on a day. */
async function leadsOf(store: Store, orgId: string, day: Day): Promise<Map<string, string[]>> {
  const { people } = await peopleOf(store, orgId);
  const addresses = new Map<string, string[]>();
  for (const { emails, memberships } of people)
    for (const { kind, name, firstDay, lastDay, isLead } of memberships) {
      const [address] = emails;
      if (kind === 'team' && isLead && firstDay <= day && day <= lastDay && address !== undefined)
        addresses.set(name, [...(addresses.get(name) ?? []), address]);
    }
  return addresses;
}

/** Looks at the conditions of every organization. One that fails doesn't keep the others from it. */
async function checkAll(deps: AlarmDeps, log: Pick<FastifyBaseLogger, 'error'>): Promise<void> {
  for (const orgId of await organizationsWithAlerts(deps.store)) {
    if (deps.stopping?.aborted === true) return;
    await checkOrganization(deps, orgId).catch((err) =>
      log.error({ err, org: orgId }, 'the alerts could not be checked'),
    );
  }
}

/** Sends the messages that are due. */
export async function sendDue(deps: AlarmDeps): Promise<void> {
  const due = await dueDeliveries(deps.store, deps.clock(), MESSAGES);
  const next = async () => {
    for (let one = due.shift(); one !== undefined && deps.stopping?.aborted !== true; one = due.shift())
      await deliver(deps, one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

/** Sends one message, and notes what came of it. */
async function deliver(deps: AlarmDeps, delivery: Delivery & { orgId: string }): Promise<void> {
  const { store, clock } = deps;
  const { orgId, deliveryId } = delivery;
  if (!(await claimDelivery(store, orgId, deliveryId, clock()))) return;
  const attempts = delivery.attempts + 1;
  const note = (state: Delivery['state'], nextAt: number, answer: string) =>
    noteAttempt(store, orgId, deliveryId, { state, attempts, nextAt, answer });
  try {
    await send(deps, delivery);
    await note('delivered', clock(), '');
  } catch (error) {
    const wait = AGAIN_MS[attempts - 1];
    // What isn't the receiver's fault passes too: the store that can't be read, or a digest that can't be made.
    const answer = error instanceof Undelivered ? error.message : `it could not be made: ${String(error)}`;
    await note(wait === undefined ? 'undelivered' : 'waiting', clock() + (wait ?? 0), answer);
  }
}

/** Makes the message of a delivery and sends it. */
async function send(deps: AlarmDeps, delivery: Delivery & { orgId: string }): Promise<void> {
  const { store, config, key, app, clock } = deps;
  const { orgId, deliveryId: id, kind, week, team, checkedAt } = delivery;
  const url = pageOf(config);
  const { ways } = await sealedAlerts.open(store, orgId, key);
  const way = ways.find(({ name }) => name === delivery.way);
  if (way === undefined && delivery.way !== '') throw new Undelivered('the way was removed');
  let message: Message;
  if (kind === 'digest' && week !== null) {
    // Somebody who may read analytics, and who is no auditor.
    const caller = { orgId, role: 'owner' as const, userId: null, email: null, credential: 'alerts' };
    message = await digestMessage({ orgId, week, team }, { id, url, ask: askOwn(app, caller) });
  } else {
    const { began, ended } = await alertsOfCheck(store, orgId, checkedAt ?? 0);
    const { mode } = await privacyOf(store, orgId);
    // The organization may protect people since the check.
    const isTold = ({ userId }: { userId: string }) => mode === 'open' || userId === '';
    const told = { began: began.filter(isTold), ended: ended.filter(isTold) };
    if (told.began.length === 0 && (told.ended.length === 0 || way?.kind !== 'webhook')) return;
    message = alertsMessage({ id, orgId, url }, told.began, told.ended);
  }
  if (way !== undefined) return sendMessage(way, message, config, clock());
  const addresses = (await leadsOf(store, orgId, addDays(week as Day, 6))).get(team) ?? [];
  await sendMail(addresses, message, config);
}

/** Sends a test one way out. Answers null if it arrived, else why it didn't; undefined if there is no such way. */
export async function sendTest(
  { store, config, key, clock }: Omit<AlarmDeps, 'app'>,
  orgId: string,
  name: string,
): Promise<string | null | undefined> {
  const { ways } = await sealedAlerts.open(store, orgId, key);
  const way = ways.find((one) => one.name === name);
  if (way === undefined) return undefined;
  const now = clock();
  try {
    await sendMessage(way, testMessage({ id: `msg_${ulid(now)}`, orgId, url: pageOf(config) }), config, now);
    return null;
  } catch (error) {
    if (!(error instanceof Undelivered)) throw error;
    return error.message;
  }
}

/** Where people see alerts; undefined if the service doesn't know its address. */
function pageOf({ publicUrl }: Config): string | undefined {
  return publicUrl === undefined ? undefined : `${publicUrl}operations/alerts`;
}

/** Checks after each build and each hour, and sends what is due, until stopped. */
export class Alarm {
  private readonly timers: NodeJS.Timeout[] = [];
  private under: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();
  private readonly deps: AlarmDeps;

  constructor(
    deps: AlarmDeps,
    private readonly log: Pick<FastifyBaseLogger, 'error'>,
  ) {
    this.deps = { ...deps, stopping: this.stopping.signal };
  }

  start(): void {
    this.timers.push(setInterval(() => void this.check(), CHECK_MS).unref());
    this.timers.push(setInterval(() => void this.send(), SEND_MS).unref());
  }

  /** Checks all conditions, after what is under way, and sends what is due. */
  check(): Promise<void> {
    return this.inTurn(async () => {
      await checkAll(this.deps, this.log);
      await sendDue(this.deps);
    });
  }

  private send(): Promise<void> {
    return this.inTurn(() => sendDue(this.deps));
  }

  private inTurn(work: () => Promise<void>): Promise<void> {
    this.under = this.under
      .then(() => (this.stopping.signal.aborted ? undefined : this.deps.store.leading('alarm', work)))
      .catch((err) => this.log.error({ err }, 'alerts could not be sent'));
    return this.under;
  }

  /** Ends it, and waits for the messages under way. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const timer of this.timers) clearInterval(timer);
    await this.under;
  }
}
