import type { Day } from '../../day.js';
import { ulid } from '../../ulid.js';
import { quote, quoteInstant } from '../sql-text.js';
import type { Parameters, Row, Store } from '../store.js';
import { inTurn, isShared } from './of-store.js';
import { inParts } from './person.js';

/** What a sentence of an alert is made of. */
export type Facts = Readonly<Record<string, string | number | null>>;

/** A condition that holds for a subject. */
export interface Holding {
  readonly condition: string;
  readonly subject: string;
  /** The person whom it names; '' for none. */
  readonly userId: string;
  readonly facts: Facts;
}

/** The time for which a condition held. Instants are Unix milliseconds. */
export interface Alert extends Holding {
  readonly beganAt: number;
  readonly endedAt: number | null;
}

/** The states of messages: one that could not be delivered is sent again only if somebody asks for it. */
export const DELIVERY_STATES = ['waiting', 'delivered', 'undelivered'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** A message to one way out. Instants are Unix milliseconds. */
export interface Delivery {
  readonly deliveryId: string;
  readonly kind: 'alerts' | 'digest';
  /** '' for e-mail to the leads of the team. */
  readonly way: string;
  /** Of alerts. */
  readonly checkedAt: number | null;
  /** Of a digest. */
  readonly week: Day | null;
  /** '' for all of the organization. */
  readonly team: string;
  readonly madeAt: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextAt: number;
  readonly answer: string;
}

/** How long alerts that have ended and messages that were sent are kept. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

function alertOf(row: Row): Alert {
  return {
    condition: String(row.condition),
    subject: String(row.subject),
    userId: String(row.user_id),
    facts: JSON.parse(String(row.facts)),
    beganAt: Number(row.began_at),
    endedAt: row.ended_at === null ? null : Number(row.ended_at),
  };
}

const ALERT_COLUMNS = 'condition, subject, user_id, facts, began_at, ended_at';

function deliveryOf(row: Row): Delivery {
  return {
    deliveryId: String(row.delivery_id),
    kind: row.kind === 'digest' ? 'digest' : 'alerts',
    way: String(row.way),
    checkedAt: row.checked_at === null ? null : Number(row.checked_at),
    week: row.week as Day | null,
    team: String(row.team),
    madeAt: Number(row.made_at),
    state: row.state as DeliveryState,
    attempts: Number(row.attempts),
    nextAt: Number(row.next_at),
    answer: String(row.answer),
  };
}

const DELIVERY_COLUMNS =
  'delivery_id, kind, way, checked_at, week, team, made_at, state, attempts, next_at, answer';

/** The alerts that hold, and those that have ended since an instant, the newest ones first. */
export async function alertsSince(
  store: Pick<Store, 'select'>,
  orgId: string,
  since: number,
): Promise<Alert[]> {
  const rows = await store.select(
    `SELECT ${ALERT_COLUMNS} FROM alerts
    WHERE org_id = $org_id AND (ended_at IS NULL OR ended_at >= instant($since))
    ORDER BY began_at DESC, condition, subject`,
    { org_id: orgId, since },
  );
  return rows.map(alertOf);
}

/** The alerts that began or ended at a check. */
export async function alertsOfCheck(
  store: Pick<Store, 'select'>,
  orgId: string,
  checkedAt: number,
): Promise<{ began: Alert[]; ended: Alert[] }> {
  const rows = await store.select(
    `SELECT ${ALERT_COLUMNS} FROM alerts
    WHERE org_id = $org_id AND (began_at = instant($at) OR ended_at = instant($at))
    ORDER BY condition, subject`,
    { org_id: orgId, at: checkedAt },
  );
  const all = rows.map(alertOf);
  return {
    began: all.filter(({ beganAt }) => beganAt === checkedAt),
    ended: all.filter(({ beganAt }) => beganAt !== checkedAt),
  };
}

/** What a check found. */
export interface Check {
  readonly orgId: string;
  readonly holding: readonly Holding[];
  /** The conditions that nobody is told of: none of them begins. */
  readonly muted: readonly string[];
  /** The conditions whose subject is told once for ever. */
  readonly once: readonly string[];
  /** The ways that are told, and whether of the end too. */
  readonly ways: readonly { readonly name: string; readonly takesEnds: boolean }[];
}

/**
 * Notes which alerts begin and which end, and puts a message for each way beside them, in one transaction: a check that is repeated or
 * interrupted tells nobody twice.
 */
export function noteCheck(
  store: Store,
  { orgId, holding, muted, once, ways }: Check,
  now: number,
): Promise<void> {
  return inTurn(store, alertsTurn(orgId), async (turn) => {
    const rows = await turn.select(
      `SELECT condition, subject, max(CASE WHEN ended_at IS NULL THEN 1 ELSE 0 END) AS is_open, max(began_at) AS newest_at
      FROM alerts WHERE org_id = $org_id GROUP BY condition, subject`,
      { org_id: orgId },
    );
    const keyOf = (condition: unknown, subject: unknown) => JSON.stringify([condition, subject]);
    const known = new Map(rows.map((row) => [keyOf(row.condition, row.subject), Number(row.is_open) === 1]));
    const held = new Set(holding.map(({ condition, subject }) => keyOf(condition, subject)));
    const began = holding.filter(({ condition, subject }) => {
      const isOpen = known.get(keyOf(condition, subject));
      return !muted.includes(condition) && (isOpen === undefined || (!isOpen && !once.includes(condition)));
    });
    const ended = rows.filter(
      ({ condition, subject, is_open }) => Number(is_open) === 1 && !held.has(keyOf(condition, subject)),
    );
    if (began.length + ended.length === 0) return;
    // Two checks never have the same instant, by which their messages find what they tell.
    const at = Math.max(now, ...rows.map(({ newest_at }) => Number(newest_at) + 1));
    const org = quote(orgId);
    const instant = quoteInstant(at);
    const values = began.map(
      ({ condition, subject, userId, facts }) =>
        `(${[org, quote(condition), quote(subject), quote(userId), quote(JSON.stringify(facts)), instant].join(', ')}, NULL)`,
    );
    const statements: { sql: string; parameters?: Parameters }[] = inParts(values).map((part) => ({
      sql: `INSERT INTO alerts VALUES ${part.join(', ')}`,
    }));
    for (const part of inParts(
      ended.map((row) => `(${quote(String(row.condition))}, ${quote(String(row.subject))})`),
    ))
      statements.push({
        sql: `UPDATE alerts SET ended_at = instant($at)
          WHERE org_id = $org_id AND ended_at IS NULL AND (condition, subject) IN (${part.join(', ')})`,
        parameters: { org_id: orgId, at },
      });
    for (const { name, takesEnds } of ways)
      if (takesEnds || began.length > 0)
        statements.push({
          sql: insertOf(orgId, { kind: 'alerts', way: name, checkedAt: at, week: null, team: '' }, now),
        });
    await turn.run(statements);
  });
}

type New = Pick<Delivery, 'kind' | 'way' | 'checkedAt' | 'week' | 'team'>;

function insertOf(orgId: string, { kind, way, checkedAt, week, team }: New, now: number): string {
  const at = quoteInstant(now);
  const values = [
    ...[orgId, `msg_${ulid(now)}`, kind, way].map(quote),
    checkedAt === null ? 'NULL' : quoteInstant(checkedAt),
    week === null ? 'NULL' : quote(week),
    ...[quote(team), at, quote('waiting'), '0', at, quote('')],
  ];
  return `INSERT INTO deliveries VALUES (${values.join(', ')})`;
}

const alertsTurn = (orgId: string) => `alerts ${orgId}`;

/** Puts the digests of a week out that aren't yet. */
export function addDigests(
  store: Store,
  orgId: string,
  week: Day,
  wanted: readonly { readonly way: string; readonly team: string }[],
  now: number,
): Promise<void> {
  return inTurn(store, alertsTurn(orgId), async (turn) => {
    const rows = await turn.select(
      `SELECT way, team FROM deliveries WHERE org_id = $org_id AND kind = 'digest' AND week = $week`,
      { org_id: orgId, week: { day: week } },
    );
    const there = new Set(rows.map(({ way, team }) => JSON.stringify([way, team])));
    const missing = wanted.filter(({ way, team }) => !there.has(JSON.stringify([way, team])));
    if (missing.length > 0)
      await turn.run(
        missing.map((one) => ({
          sql: insertOf(orgId, { kind: 'digest', checkedAt: null, week, ...one }, now),
        })),
      );
  });
}

/** The messages that are due, of all organizations, the oldest first. */
export async function dueDeliveries(
  store: Pick<Store, 'select'>,
  now: number,
  limit: number,
): Promise<(Delivery & { orgId: string })[]> {
  const rows = await store.select(
    `SELECT org_id, ${DELIVERY_COLUMNS} FROM deliveries
    WHERE state = 'waiting' AND next_at <= instant($now) ORDER BY made_at, delivery_id LIMIT $limit`,
    { now, limit },
  );
  return rows.map((row) => ({ orgId: String(row.org_id), ...deliveryOf(row) }));
}

/** The newest messages of an organization: those that could not be delivered first, then those that wait. */
export async function newestDeliveries(
  store: Pick<Store, 'select'>,
  orgId: string,
  limit: number,
): Promise<Delivery[]> {
  const rows = await store.select(
    `SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE org_id = $org_id
    ORDER BY CASE state WHEN 'undelivered' THEN 0 WHEN 'waiting' THEN 1 ELSE 2 END, made_at DESC, delivery_id DESC LIMIT $limit`,
    { org_id: orgId, limit },
  );
  return rows.map(deliveryOf);
}

/** How long a message is one node's to send. */
const CLAIM_MS = 5 * 60_000;

/** Claims a message that is due, so that no other node sends it as well. Answers whether it is still due. */
export async function claimDelivery(
  store: Store,
  orgId: string,
  deliveryId: string,
  now: number,
): Promise<boolean> {
  if (!(await isShared(store))) return true;
  return inTurn(store, `deliveries ${orgId}`, async (turn) => {
    const [due] = await turn.select(
      `SELECT 1 AS found FROM deliveries
      WHERE org_id = $org_id AND delivery_id = $id AND state = 'waiting' AND next_at <= instant($now)`,
      { org_id: orgId, id: deliveryId, now },
    );
    if (due === undefined) return false;
    await turn.run([
      {
        sql: 'UPDATE deliveries SET next_at = instant($until) WHERE org_id = $org_id AND delivery_id = $id',
        parameters: { org_id: orgId, id: deliveryId, until: now + CLAIM_MS },
      },
    ]);
    return true;
  });
}

/** Notes what came of an attempt. */
export function noteAttempt(
  store: Store,
  orgId: string,
  deliveryId: string,
  { state, attempts, nextAt, answer }: Pick<Delivery, 'state' | 'attempts' | 'nextAt' | 'answer'>,
): Promise<void> {
  return store.run([
    {
      sql: `UPDATE deliveries SET state = $state, attempts = CAST($attempts AS BIGINT), next_at = instant($next_at), answer = $answer
        WHERE org_id = $org_id AND delivery_id = $id`,
      parameters: { org_id: orgId, id: deliveryId, state, attempts, next_at: nextAt, answer },
    },
  ]);
}

/** Has a message sent again that could not be delivered. Answers whether there is one. */
export async function sendAgain(
  store: Store,
  orgId: string,
  deliveryId: string,
  now: number,
): Promise<boolean> {
  const [found] = await store.select(
    `SELECT state FROM deliveries WHERE org_id = $org_id AND delivery_id = $id AND state = 'undelivered'`,
    { org_id: orgId, id: deliveryId },
  );
  if (found === undefined) return false;
  await noteAttempt(store, orgId, deliveryId, { state: 'waiting', attempts: 0, nextAt: now, answer: '' });
  return true;
}

/** Removes alerts that ended and messages that were made long ago. */
export function removeOldAlerts(store: Store, now: number): Promise<void> {
  const parameters = { before: now - KEPT_MS };
  return store.run([
    { sql: 'DELETE FROM alerts WHERE ended_at < instant($before)', parameters },
    { sql: 'DELETE FROM deliveries WHERE made_at < instant($before)', parameters },
  ]);
}
