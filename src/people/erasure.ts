import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { rm } from '../disk/renames.js';
import { UsageError } from '../exit.js';
import type { Lake } from '../lake/data-lake.js';
import { folderOf, LAKE } from '../lake/lake-paths.js';
import { quote } from '../store/sql-text.js';
import { erasedIn, forgetNames } from '../store/state/erased-names.js';
import {
  ErasedPerson,
  findPerson,
  namesOfErased,
  patternsOf,
  pseudonymOf,
} from '../store/state/erased-person.js';
import { erasureOf } from '../store/state/erasure-statements.js';
import { inTurn, isShared, OneAtATime } from '../store/state/of-store.js';
import { nameHash } from '../store/state/organization-secret.js';
import { peopleRevision, peopleTurn } from '../store/state/person.js';
import type { Store } from '../store/store.js';

/** A body that can't be settled: a file, or an object in a bucket. */
interface Unsettled {
  readonly path: string;
  readonly object?: {
    readonly text: () => Promise<string | undefined>;
    readonly remove: () => Promise<void>;
  };
}

/** Where and with what somebody is erased. */
export interface ErasureContext {
  readonly store: Store;
  readonly lake: Lake;
  /** The data folder. */
  readonly data: string;
  /** Settles all events acknowledged so far, and answers the files that can't be. */
  readonly settle: () => Promise<readonly Unsettled[]>;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

const queue = new OneAtATime();

/** One erasure at a time, on all nodes: it takes minutes, in which other people may change. */
function erasing<T>(store: Store, work: () => Promise<T>): Promise<T> {
  return queue.run(store, () => store.leading('erasure', work));
}

/** After so long, every node knows that names are refused. */
const KNOWN_MS = 1000;

/** Rows, days or files that an erasure changes or removes. */
export interface ErasureCount {
  readonly what: string;
  readonly count: number;
  readonly outcome: string;
}

/** What an erasure does, or did. */
export interface Erasure {
  /** The user id that takes the person's place: null until it counts. */
  readonly pseudonym: string | null;
  /** How many names were found: user ids, aliases and addresses. */
  readonly names: number;
  readonly counts: readonly ErasureCount[];
  /** The paths of Daybook's own files and folders that are deleted. */
  readonly deleted: readonly string[];
  /** When it began: Unix milliseconds. Backups from before still have the person. */
  readonly begunAt: number;
}

/** Copies of a database in the data folder, which nothing reads: of restores and damaged logs, and in the folder `backups` of upgrades. */
const COPY = /^(?:replaced|daybook\.duckdb\.wal\.damaged)-\d{8}T\d{6}Z(?:-\d+)?$/;
const UPGRADE_COPY = /^daybook-\d{4}-\d{8}T\d{6}Z\.duckdb(?:\.unfinished)?$/;

/**
 * Gives a person's place to a random pseudonym everywhere, and removes all other copies of the person's rows from the data folder. Finds out
 * what that would change if it is a trial. Throws a UsageError if the organization has no trace of the name.
 */
export async function erasePerson(
  context: ErasureContext,
  { orgId, user, author, isTrial }: { orgId: string; user: string; author: string; isTrial: boolean },
): Promise<Erasure> {
  const { store, data, clock, settle } = context;
  if (!isTrial) await finishErasures(context, author);
  const setAside = await settle();
  return erasing(store, async () => {
    const revision = await peopleRevision(store.select.bind(store), orgId);
    const person = await findPerson(store, orgId, user);
    if (person === undefined) {
      if ((await erasedIn(store, orgId))?.(user) === true)
        throw new UsageError(
          `Whoever has this name was erased from ${orgId} already: there is nothing left to do.`,
        );
      throw new UsageError(
        `Nothing in ${orgId} has the user given: "daybook people list" and "daybook report users" show user ids.`,
      );
    }
    if (namesOfErased(person).some((name) => name === 'unknown' || name.startsWith('erased-')))
      throw new UsageError('This user id stands for nobody who could be erased: name a person.');
    const begunAt = clock();
    const counts = await countsOf(context, person);
    const names = person.names.length;
    const deleted = (await deletedBy(person, setAside, data)).map(({ path }) => path);
    if (isTrial) return { pseudonym: null, names, counts, deleted, begunAt };
    await begin(store, person, revision, begunAt);
    await finish(context, person, author);
    return { pseudonym: pseudonymOf(person), names, counts, deleted, begunAt };
  });
}

/** Finishes erasures that were interrupted. Answers how many. */
export async function finishErasures(context: ErasureContext, author: string): Promise<number> {
  const { store } = context;
  for (let finished = 0; ; finished += 1) {
    const isDone = await erasing(store, async () => {
      const [row] = await store.select(
        'SELECT work FROM erasures WHERE finished_at IS NULL ORDER BY begun_at, pseudonym LIMIT 1',
      );
      if (row === undefined) return true;
      await finish(context, ErasedPerson.parse(JSON.parse(String(row.work))), author);
      return false;
    });
    if (isDone) return finished;
  }
}

/**
 * Notes the erasure, so that it is finished whatever happens, and refuses the names from now on, so that nobody gets one of them meanwhile.
 * Throws a UsageError if people have changed since the revision in which the person was found.
 */
async function begin(store: Store, person: ErasedPerson, revision: number, now: number): Promise<void> {
  const { orgId } = person;
  const work = JSON.stringify(person);
  const refused = await refusal(store, person, now);
  await inTurn(store, peopleTurn(orgId), async (turn) => {
    if ((await peopleRevision(turn.select.bind(turn), orgId)) !== revision)
      throw new UsageError(`The people of ${orgId} were changed meanwhile: erase the person again.`);
    await turn.run([
      {
        sql: 'INSERT INTO erasures SELECT $org_id, $pseudonym, instant($now), $work, NULL',
        parameters: { org_id: orgId, pseudonym: pseudonymOf(person), now, work },
      },
      ...refused,
    ]);
  });
  forgetNames(store);
}

/** The statements that have the names refused. */
async function refusal(store: Store, person: ErasedPerson, now: number): Promise<{ sql: string }[]> {
  const { orgId } = person;
  const hashed = await nameHash(store, orgId, 'erased', now);
  const hashes = namesOfErased(person).map((name) => hashed(name).toString('hex'));
  return [
    {
      sql: `DELETE FROM erased_names WHERE org_id = ${quote(orgId)} AND name_hash IN (${hashes.map(quote).join(', ')})`,
    },
    {
      sql: `INSERT INTO erased_names VALUES ${hashes.map((one) => `(${quote(orgId)}, ${quote(one)})`).join(', ')}`,
    },
  ];
}

/** Does all steps of an erasure that has begun. Each can be done again. */
async function finish(context: ErasureContext, person: ErasedPerson, author: string): Promise<void> {
  const { store, lake, data, settle, clock } = context;
  await store.run(await refusal(store, person, clock()));
  forgetNames(store);
  const isOfSeveral = await isShared(store);
  if (isOfSeveral) await wait(KNOWN_MS);
  // What was acknowledged before the names were refused, and is refused now.
  const setAside = await settle();
  await store.rewrite(await erasureOf(store, person, author, clock()));
  forgetNames(store);
  await lake.forget(store, person.orgId);
  for (const { remove } of await deletedBy(person, setAside, data)) await remove();
  const isThis = `org_id = ${quote(person.orgId)} AND pseudonym = ${quote(pseudonymOf(person))}`;
  const finishedAt = clock();
  await store.renewFile({
    erasures: `SELECT org_id, pseudonym, begun_at,
        CASE WHEN ${isThis} THEN NULL ELSE work END AS work,
        CASE WHEN ${isThis} THEN instant(${finishedAt}) ELSE finished_at END AS finished_at
      FROM erasures`,
  });
  // Where the row is in no file of the store.
  if (isOfSeveral)
    await store.run([
      {
        sql: `UPDATE erasures SET work = NULL, finished_at = instant(${finishedAt}) WHERE ${isThis} AND finished_at IS NULL`,
      },
    ]);
  forgetNames(store);
  await lake.publish(store, []);
}

/** The files and objects of the inbox that can't be settled and name the person. */
async function namedFiles(person: ErasedPerson, setAside: readonly Unsettled[]): Promise<Deleted[]> {
  const words = [...namesOfErased(person), ...person.words].map((word) =>
    Buffer.from(word.toLowerCase()).toString('latin1').toLowerCase(),
  );
  const named: Deleted[] = [];
  for (const { path, object } of setAside) {
    const text =
      object === undefined ? textIn(path) : Buffer.from((await object.text()) ?? '').toString('latin1');
    if (words.some((word) => text.toLowerCase().includes(word)))
      named.push({ path, remove: object?.remove ?? (() => rm(path, { recursive: true, force: true })) });
  }
  return named;
}

function textIn(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function copiesIn(data: string): string[] {
  const backups = join(data, 'backups');
  const within = (folder: string, copy: RegExp) =>
    readdirSync(folder)
      .filter((name) => copy.test(name))
      .map((name) => join(folder, name));
  return [...within(data, COPY), ...(existsSync(backups) ? within(backups, UPGRADE_COPY) : [])];
}

/** A file, folder or object that an erasure deletes. */
interface Deleted {
  readonly path: string;
  readonly remove: () => Promise<void>;
}

/** What an erasure deletes: the bodies of the inbox that name the person, and copies of the database. */
async function deletedBy(
  person: ErasedPerson,
  setAside: readonly Unsettled[],
  data: string,
): Promise<Deleted[]> {
  const copies = copiesIn(data).map((path) => ({
    path,
    remove: () => rm(path, { recursive: true, force: true }),
  }));
  return [...(await namedFiles(person, setAside)), ...copies];
}

async function countsOf({ store, data }: ErasureContext, person: ErasedPerson): Promise<ErasureCount[]> {
  const { orgId } = person;
  const names = namesOfErased(person);
  const { within } = patternsOf(person);
  const count = async (sql: string, parameters = {}) => {
    const [row] = await store.select(sql, { org_id: orgId, names, ...parameters });
    return Number(row?.count);
  };
  const of = (table: string, column = 'user_id') =>
    count(`SELECT count(*) AS count FROM ${table} WHERE org_id = $org_id AND ${column} IN $names`);
  const folder = join(data, LAKE, folderOf(orgId));
  const files = existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.parquet'))
    : [];
  return [
    { what: 'events', count: await of('events'), outcome: 'get the pseudonym' },
    {
      what: 'places',
      count: await count(
        `SELECT count(*) AS count FROM events
        WHERE org_id = $org_id AND user_id IN $names
          AND (regexp_matches(cwd, $within) OR regexp_matches(git_branch, $within) OR regexp_matches(repo, $within))`,
        { within },
      ),
      outcome: 'of these events become null',
    },
    {
      what: 'days',
      count: await count(
        'SELECT count(DISTINCT day) AS count FROM coverage WHERE org_id = $org_id AND user_id IN $names',
      ),
      outcome: 'get the pseudonym, with the same totals',
    },
    {
      what: 'people',
      count: (await of('people')) + (await of('scim_users')),
      outcome: 'lose name, addresses and aliases',
    },
    {
      what: 'keys',
      count: await count(
        'SELECT count(*) AS count FROM keys WHERE org_id = $org_id AND user_id IN $names AND revoked_at IS NULL',
      ),
      outcome: 'are revoked',
    },
    {
      what: 'log entries',
      count: await count(
        'SELECT count(*) AS count FROM access_log WHERE org_id = $org_id AND (user_id IN $names OR about IN $names)',
      ),
      outcome: 'of who asked about whom get the pseudonym',
    },
    {
      what: 'rejected lines',
      count: await count(
        'SELECT count(*) AS count FROM rejects WHERE org_id = $org_id AND regexp_matches(line, $within)',
        { within },
      ),
      outcome: 'lose their text',
    },
    { what: 'lake files', count: files.length, outcome: 'are written anew, without earlier versions' },
    { what: 'database copies', count: copiesIn(data).length, outcome: 'in the data folder are deleted' },
  ];
}
