import { hash } from 'node:crypto';
import { addDays, type Day, dayOf } from '../day.js';
import { VERSION } from '../disk/package-root.js';
import { type CostTerms, costTermsOf } from '../money/cost-terms.js';
import type { Config } from '../settings/config.js';
import { readSql, readSqlFolder } from '../store/sql-text.js';
import { type ClosedNames, closedNamesOf } from '../store/state/closed-names.js';
import { whenErased } from '../store/state/erased-names.js';
import { peopleRevision } from '../store/state/person.js';
import type { ReadColumns, Store } from '../store/store.js';
import { BYTES_IN_MEMORY, discard, type Pieces, written } from './answer-body.js';
import { Answered, Cache } from './answer-cache.js';
import { type Answer, FAMILIES, isPaged, isTotals } from './answer-names.js';
import {
  asksBelonging,
  csvOf,
  elementsOf,
  type Form,
  type Page,
  type Reading,
  type ReportRequest,
  readReport,
} from './answer-rows.js';
import type { Slice } from './totals-query.js';

/** How many rows are read at once, or days if an answer has few rows. */
const ROWS_AT_ONCE = 100_000;
const DAYS_AT_ONCE = 100;

/** How long a count of the open day is reused: this long, and this many times as long as counting took. */
const TODAY_MS = 10_000;
const TODAY_TIMES = 10;
/** What is told of the open day. */
const TODAY_ANSWERS = [...FAMILIES, 'summary'] as const;

/** No day is before it. */
const FIRST_DAY = '1970-01-01' as Day;

/** How long a replaced file stays, for readers that are about to open it. */
const GRACE_MS = 10_000;

/** What changes an answer whose rows are the same. */
const MAKER = `${VERSION} ${hash(
  'sha256',
  [...readSqlFolder('report'), ...readSqlFolder('answer')].map(({ text }) => text).join(),
)}`;

/** A request for an answer, with the requested range and the range that is read. */
export interface Question extends ReportRequest {
  readonly answer: Answer;
  readonly form: Form;
  readonly startDate: Day;
  readonly endDate: Day;
  /** Whether it is about the caller alone: then there are no pages. */
  readonly isOwn?: boolean;
}

/** What an answer for built days depends on. */
interface State {
  readonly tag: string;
  /** When the newest of the days was built: Unix milliseconds. */
  readonly refreshedAt: number | null;
  readonly slices: Slice[];
}

/** Whether the client already has the answer with this tag. */
export type IsKnown = (tag: string) => boolean;

/** Answers 304: the client already has the answer with this tag. */
export interface Unchanged {
  readonly tag: string;
  readonly body?: undefined;
}

/** A fact about each organization, which is read once for all answers of a revision. */
class OfRevision<Fact> {
  private readonly known = new Map<string, { readonly revision: string; readonly fact: Fact }>();

  async get(orgId: string, revision: string, read: () => Promise<Fact>): Promise<Fact> {
    const known = this.known.get(orgId);
    if (known?.revision === revision) return known.fact;
    const fact = await read();
    this.known.set(orgId, { revision, fact });
    return fact;
  }
}

/** The answers of each store in memory. */
const caches = new WeakMap<Store, Set<Cache>>();
whenErased((store) => {
  for (const cache of caches.get(store) ?? []) cache.clear();
});

/** Answers requests, from memory as long as an answer's days don't change. */
export class Answerer {
  readonly cache: Cache;
  private readonly bytesInMemory: number;
  /** Answers that are being computed: requests for the same answer wait for it. */
  private readonly pending = new Map<string, Promise<Answered>>();
  /** Checksums of organizations' e-mails. */
  private readonly emails = new OfRevision<string>();
  private readonly terms = new OfRevision<CostTerms | undefined>();
  private readonly closedNames = new OfRevision<ClosedNames | undefined>();
  private erased = '';

  constructor(
    private readonly store: Store,
    private readonly config: Config,
    private readonly clock: () => number,
  ) {
    const limit = config.cacheMb * 2 ** 20;
    this.bytesInMemory = Math.min(BYTES_IN_MEMORY, limit / 4);
    this.cache = new Cache(limit, ({ body }) => {
      setTimeout(() => void discard(body), GRACE_MS).unref();
    });
    caches.set(store, (caches.get(store) ?? new Set()).add(this.cache));
  }

  /** Answers a request about built days. If the client already has the answer, it isn't read. */
  async answer(asked: Question, isKnown: IsKnown | undefined): Promise<Answered | Unchanged> {
    await this.forgetErased();
    const revision = await this.store.revision();
    const question = await this.withSettings(asked, revision);
    const key = JSON.stringify(question);
    const kept = this.cache.get(key);
    if (kept?.revision === revision) return kept;
    if (isKnown !== undefined && question.answer !== 'quality') {
      const { tag } = await this.store.snapshot((select) => this.stateOf(select, question, key, revision));
      if (isKnown(tag)) return { tag };
    }
    return this.once(`${revision} ${key}`, () => this.read(question, key, revision, kept));
  }

  /** A question with what it needs of the organization's settings. */
  async withSettings(asked: Question, known?: string): Promise<Question> {
    const { orgId, answer } = asked;
    const { store } = this;
    const revision = await this.settingsRevision(known ?? (await store.revision()));
    return {
      ...asked,
      ...(isTotals(answer)
        ? { terms: await this.terms.get(orgId, revision, () => costTermsOf(store, orgId)) }
        : {}),
      ...(asksBelonging(answer, asked)
        ? { closedNames: await this.closedNames.get(orgId, revision, () => closedNamesOf(store, orgId)) }
        : {}),
    };
  }

  /** What an organization's settings are read anew for: another node may change them without anything else. */
  private async settingsRevision(revision: string): Promise<string> {
    return `${revision} ${await this.store.stateRevision('control_revisions')}`;
  }

  /** Forgets all answers when another node has erased somebody, as one does that has erased somebody itself. */
  private async forgetErased(): Promise<void> {
    const erased = await this.store.stateRevision('erased_names');
    if (erased !== this.erased) this.cache.clear();
    this.erased = erased;
  }

  /** Reads an answer, unless the one in memory is still valid. */
  private async read(
    question: Question,
    key: string,
    revision: string,
    kept: Answered | undefined,
  ): Promise<Answered> {
    const answered = await written(this.config.data, this.bytesInMemory, (write) =>
      this.store.snapshot(async (select, readColumns) => {
        const { tag, refreshedAt, slices } = await this.stateOf(select, question, key, revision);
        const state = `${tag} ${refreshedAt}`;
        // Arriving events change the answer about quality at any time, so its tag is made from its bytes.
        const isOfDays = question.answer !== 'quality';
        if (isOfDays && kept?.state === state) return kept;
        const { page, pieces } = await readPieces(select, readColumns, question, slices, refreshedAt);
        const { body, digest } = await write(pieces);
        return new Answered(isOfDays ? tag : digest, body, state, revision, undefined, page?.next_cursor);
      }),
    );
    answered.revision = revision;
    if (Buffer.isBuffer(answered.body)) this.cache.keep(key, answered);
    return answered;
  }

  /** What an answer depends on: the digests of its days, the e-mails, the prices, the bills, who belongs to which team, and the request. */
  private async stateOf(
    select: Store['select'],
    question: Question,
    key: string,
    revision: string,
  ): Promise<State> {
    const { orgId, from, to, answer, groupBy, totals } = question;
    // Whether two ranges can be compared depends on the first day of all.
    const isCompared = answer === 'changes' || totals?.compare !== undefined;
    const first = isCompared ? FIRST_DAY : from;
    const range = { org_id: orgId, from: { day: first }, to: { day: to } };
    const days = await select(readSql('state/days.sql'), range);
    const hasEmails = isPaged(answer) || (answer === 'tokens' && groupBy === undefined);
    const emails = hasEmails
      ? await this.emails.get(orgId, revision, async () => {
          const [row] = await select(readSql('state/emails.sql'), { org_id: orgId });
          return String(row?.checksum);
        })
      : null;
    const hasCosts = isTotals(answer) || groupBy === 'month' || groupBy === 'vendor';
    const prices = hasCosts ? await select(readSql('state/prices.sql')) : null;
    const bills = groupBy === 'vendor' ? await select(readSql('state/bills.sql'), range) : null;
    const people = asksBelonging(answer, question) ? await peopleRevision(select, orgId) : null;
    const state = JSON.stringify([
      MAKER,
      key,
      emails,
      prices,
      bills,
      people,
      days.map(({ day, checksum }) => [day, checksum]),
    ]);
    let refreshedAt: number | null = null;
    for (const { day, built_at } of days)
      if (String(day) >= from) refreshedAt = Math.max(refreshedAt ?? 0, Number(built_at));
    const isByModel = (answer === 'tokens' && groupBy === undefined) || answer === 'focus';
    const rowsOf = (modelRows: number) => (isByModel ? modelRows : ROWS_AT_ONCE / DAYS_AT_ONCE);
    const slices: { from: Day; to: Day }[] = [];
    let rows = 0;
    const hidden = new Set(isTotals(answer) ? [] : question.guard?.quietDays.map(({ day }) => day));
    let isAfterHidden = false;
    for (const found of days) {
      const day = found.day as Day;
      if (hidden.has(day)) {
        isAfterHidden = true;
        continue;
      }
      rows += rowsOf(Number(found.model_rows));
      const slice = slices.at(-1);
      if (slice !== undefined && rows <= ROWS_AT_ONCE && !isAfterHidden) {
        slice.to = day;
      } else {
        slices.push({ from: day, to: day });
        isAfterHidden = false;
        rows = rowsOf(Number(found.model_rows));
      }
    }
    // An answer without a day that may be told reads none.
    if (slices.length === 0 && hidden.size > 0) slices.push({ from: addDays(to, 1), to });
    return { tag: hash('sha256', state, 'base64url'), refreshedAt, slices };
  }

  /**
   * Counts the open day so far: its settled events, as a build would, beside the days that are built. It is counted again
   * once events were settled since, at most every ten seconds, and so that counting takes a tenth of the time at most.
   */
  async today(orgId: string): Promise<Answered> {
    const day = dayOf(this.clock());
    const key = JSON.stringify(['today', orgId, day]);
    const revision = await this.store.revision();
    const kept = this.cache.get(key);
    const now = this.clock();
    // A clock that was set back is before it was counted.
    const isFresh = kept?.reuse !== undefined && kept.reuse.from <= now && now < kept.reuse.until;
    if (kept !== undefined && (kept.revision === revision || isFresh)) return kept;
    return this.once(key, async () => {
      const started = this.clock();
      const terms = await this.terms.get(orgId, await this.settingsRevision(revision), () =>
        costTermsOf(this.store, orgId),
      );
      const request = { orgId, from: day, to: day, totals: {}, terms };
      const { body, digest } = await written(this.config.data, this.bytesInMemory, (write) =>
        this.store.preview([{ orgId, day }], (select, readColumns) => {
          const counted_at = new Date(started).toISOString();
          const meta = { org_id: orgId, start_date: day, end_date: day, final: false, counted_at };
          return write(todayText(select, readColumns, request, meta));
        }),
      );
      const ended = this.clock();
      const until = ended + Math.max(TODAY_MS, TODAY_TIMES * (ended - started));
      const answered = new Answered(digest, body, digest, revision, { from: ended, until });
      this.cache.keep(key, answered);
      return answered;
    });
  }

  /** Does work once for all requests that come meanwhile. A large body that isn't kept can serve only one of them. */
  private async once(name: string, work: () => Promise<Answered>): Promise<Answered> {
    for (let other = this.pending.get(name); other !== undefined; other = this.pending.get(name)) {
      const answered = await other;
      if (Buffer.isBuffer(answered.body) || answered.reuse !== undefined) return answered;
    }
    const made = work().finally(() => this.pending.delete(name));
    this.pending.set(name, made);
    return made;
  }
}

/** Reads the parts of an answer's body, in the requested format. */
async function readPieces(
  select: Store['select'],
  readColumns: ReadColumns,
  question: Question,
  slices: readonly Slice[],
  refreshedAt: number | null,
): Promise<{ page?: Page | undefined; pieces: Pieces }> {
  const { answer, form, isOwn = false } = question;
  const reading = await readReport(select, readColumns, answer, form, question, slices);
  const { page } = reading;
  const meta = {
    org_id: question.orgId,
    start_date: question.startDate,
    end_date: question.endDate,
    data_refreshed_at: refreshedAt === null ? null : new Date(refreshedAt).toISOString(),
    ...(isOwn ? {} : page),
  };
  return { page, pieces: await piecesOf(reading, form, meta) };
}

/** The parts of a body with rows, and what is said of them: in JSON beside them, in Arrow as texts. */
export async function piecesOf(reading: Reading, form: Form, meta: object): Promise<Pieces> {
  if (form === 'csv') return csvOf(reading);
  if (form === 'json') return rowsText(reading, meta);
  const { arrowBytes } = await import('../arrow/arrow-stream.js');
  const told = Object.entries(meta).filter(([, value]) => value !== null);
  const texts = Object.fromEntries(told.map(([name, value]) => [name, String(value)]));
  return arrowBytes(reading.results, texts);
}

/** The JSON of an answer whose `data` are rows. */
async function* rowsText(reading: Reading, meta: object): Pieces {
  yield '{"data":[';
  yield* elementsOf(reading);
  yield `],"meta":${JSON.stringify(meta)}}`;
}

/** The JSON of the answer for the open day: one row of each answer, and all users. */
async function* todayText(
  select: Store['select'],
  readColumns: ReadColumns,
  request: ReportRequest,
  meta: object,
): Pieces {
  let before = '{"data":{';
  for (const answer of TODAY_ANSWERS) {
    const reading = await readReport(select, readColumns, answer, 'json', request);
    yield `${before}"${answer}":${answer === 'users' ? '[' : ''}`;
    yield* elementsOf(reading);
    before = answer === 'users' ? '],' : ',';
  }
  yield `${before.slice(0, -1)}},"meta":${JSON.stringify(meta)}}`;
}
