import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { dayOf } from '../day.js';
import { FETCHED_PRICES } from '../disk/data-files.js';
import { makeFolder, writeWhole } from '../disk/folder.js';
import { readText } from '../disk/text-file.js';
import { reasonOf, UsageError } from '../exit.js';
import { parsedJson } from '../input/json-object.js';
import { AnswerTooLong, Outgoing, SHORT_ANSWER_BYTES } from '../network/outgoing.js';
import { ProxyRefusal } from '../network/proxy-agent.js';
import { withoutCredentials } from '../network/url-credentials.js';
import {
  BASE_PRICES,
  type Lists,
  OWN_PRICES,
  PriceList,
  PublishedList,
  readFetched,
} from '../store/price-list.js';
import { newerPrices, type PriceChange, priceChanges } from './newer-prices.js';
import { vendorList } from './vendor-prices.js';

/** How long the other side may take to answer. */
const ANSWER_MS = 60_000;

/** Newer prices, before they count. */
export interface NewerPrices {
  /** The address or file that they come from. */
  readonly from: string;
  readonly changes: readonly PriceChange[];
  /** Makes them count, from the next start or build on: all or none of them. */
  readonly save: () => Promise<void>;
}

/** How many changes a log names. */
const LOGGED_CHANGES = 50;

/** Fetches newer prices, as the service does before a nightly build. If that fails, the prices stay as they are. */
export async function updatePrices(
  { data, pricesFrom }: { readonly data: string; readonly pricesFrom: string },
  now: number,
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>,
  stopping: AbortSignal,
): Promise<void> {
  try {
    const { changes, from, save } = await readNewerPrices(data, pricesFrom, now, stopping);
    if (changes.length === 0) return;
    log.info({ from, count: changes.length, changes: changes.slice(0, LOGGED_CHANGES) }, 'prices change');
    await save();
  } catch (err) {
    log.warn({ err }, 'could not fetch newer prices');
  }
}

/** Reads newer prices from an address or a file, and compares them with those of a data folder. Throws a UsageError for wrong ones. */
export async function readNewerPrices(
  data: string,
  from: string,
  now: number,
  stopping?: AbortSignal,
): Promise<NewerPrices> {
  // A password or token in an address must be neither kept nor shown.
  const shown = withoutCredentials(from);
  const list = vendorList(await read(from, shown, stopping), shown);
  const before = listsOf(data);
  const newer = PublishedList.safeParse(
    await newerPrices(before.fetched ?? before.base, list, shown, dayOf(now)),
  );
  if (!newer.success) {
    const [issue] = newer.error.issues;
    throw new UsageError(
      `${shown} has a price that can't be one (${issue?.path.join('.')} ${issue?.message}): nothing was changed.`,
    );
  }
  const fetched = newer.data;
  return {
    from: shown,
    changes: priceChanges(before, { ...before, fetched }),
    save: async () => {
      makeFolder(data);
      await writeWhole(join(data, FETCHED_PRICES), `${JSON.stringify(fetched)}\n`);
    },
  };
}

/** The lists that count in a data folder. */
function listsOf(data: string): Lists {
  const parse = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as unknown;
  const fetched = readFetched(data);
  const known = fetched === undefined ? undefined : PublishedList.safeParse(parsedJson(fetched));
  if (known?.success === false)
    throw new UsageError(
      `The file ${join(data, FETCHED_PRICES)} is damaged: restore it from a backup, or delete it to have the prices that are shipped.`,
    );
  return {
    base: PublishedList.parse(parse(BASE_PRICES)),
    own: PriceList.parse(parse(OWN_PRICES)),
    fetched: known?.data,
  };
}

async function read(from: string, shown: string, stopping?: AbortSignal): Promise<unknown> {
  const json = /^https?:\/\//i.test(from) ? await fetched(from, shown, stopping) : inFile(from);
  if (json === undefined) throw new UsageError(`${shown} isn't JSON: nothing was changed.`);
  return json;
}

function inFile(path: string): unknown {
  try {
    if (statSync(path).size > SHORT_ANSWER_BYTES) throw tooLong(path);
    return parsedJson(readText(path));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${path} can't be read (${reasonOf(error)}): give the address or the path of a list.`,
    );
  }
}

function tooLong(from: string): UsageError {
  return new UsageError(
    `${from} has more than ${SHORT_ANSWER_BYTES / 2 ** 20} MiB, which no list of prices has: nothing was changed.`,
  );
}

async function fetched(from: string, shown: string, stopping?: AbortSignal): Promise<unknown> {
  const address = URL.canParse(from) ? new URL(from) : undefined;
  if (address === undefined || address.username !== '' || address.password !== '')
    throw new UsageError(
      `${shown} isn't an address without a user and a password: give one such as https://prices.acme.example/data.json.`,
    );
  const { origin, pathname, search } = address;
  const outgoing = await Outgoing.to(origin);
  try {
    const answer = await outgoing.send('GET', `${pathname}${search}`, {
      headers: { accept: 'application/json', 'user-agent': 'daybook' },
      signal: AbortSignal.any([
        AbortSignal.timeout(ANSWER_MS),
        ...(stopping === undefined ? [] : [stopping]),
      ]),
    });
    // A redirect isn't followed: it could lead into the network of the service.
    if (answer.status !== 200)
      throw new UsageError(
        `${shown} answers ${answer.status}: nothing was changed. Give another address with --from.`,
      );
    return answer.json;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof AnswerTooLong) throw tooLong(shown);
    const reason = error instanceof ProxyRefusal ? error.message : reasonOf(error);
    throw new UsageError(
      `${shown} can't be reached (${reason}): nothing was changed. Download it elsewhere, and give the file with --from.`,
    );
  } finally {
    outgoing.close();
  }
}
