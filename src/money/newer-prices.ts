import { isDeepStrictEqual } from 'node:util';
import type { Day } from '../day.js';
import {
  completed,
  KINDS,
  type Lists,
  mergedPrices,
  type PublishedList,
  type PublishedModel,
  type PublishedPrice,
  priceOn,
} from '../store/price-list.js';
import { modelKeys } from './model-keys.js';
import type { VendorList } from './vendor-prices.js';

/** The models of a published list by their keys. A name that is the key itself counts before one with a date. */
async function modelsByKey({ models }: VendorList): Promise<PublishedModel[]> {
  const keys = await modelKeys([...new Set(models.flatMap(({ names }) => names))]);
  const found = new Map<string, { isExact: boolean; model: PublishedModel }>();
  for (const { names, source, prices, isOwn } of models) {
    for (const name of names) {
      const id = keys.get(name) ?? '';
      const isExact = name.toLowerCase().replaceAll(/(?<=\d)\.(?=\d)/g, '-') === id;
      const isName = /^[\w.-]*\w$/.test(id) && isOwn(id);
      const known = found.get(id);
      if (!isName || (known !== undefined && (known.isExact || !isExact))) continue;
      found.set(id, { isExact, model: { id, source, prices: [...prices] } });
    }
  }
  return [...found.values()].map(({ model }) => model).sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** What a price states, without its days. */
function statedBy({ valid_from: _, seen: __, ...stated }: PublishedPrice) {
  return stated;
}

/** A price of a list, with what the list leaves out. genai-prices says all about long prompts: a price without a step has none. */
function wholePrice(
  price: PublishedPrice,
  before: PublishedPrice | undefined,
  form: VendorList['form'],
): PublishedPrice {
  const isFlat = form === 'genai-prices' && price.above === undefined;
  return completed(price, before !== undefined && isFlat ? { ...before, above: undefined } : before);
}

/** The prices of a model after a newer list, which was read on a day. The undated price of earlier days stays as it was. */
function updatedModel(
  before: PublishedModel,
  newer: PublishedModel,
  form: VendorList['form'],
  day: Day,
): PublishedModel {
  const now = priceOn(before.prices, day);
  const newest = newer.prices.map((price) => wholePrice(price, now, form));
  const dated = newest.filter(({ valid_from }) => valid_from !== undefined);
  const isFuture = ({ valid_from }: PublishedPrice) => valid_from !== undefined && valid_from > day;
  // LiteLLM has no dates, so it says nothing about what has been announced.
  const kept =
    form === 'litellm'
      ? before.prices
      : before.prices.filter(
          (price) => !isFuture(price) || dated.some(({ valid_from }) => valid_from === price.valid_from),
        );
  const prices = [...kept];
  for (const price of dated) {
    const at = prices.findIndex(({ valid_from }) => valid_from === price.valid_from);
    if (at < 0) prices.push({ ...price, seen: day });
    else if (isFuture(price) && !isDeepStrictEqual(statedBy(prices[at] as PublishedPrice), statedBy(price)))
      prices[at] = { ...price, seen: day };
  }
  const stated = priceOn(newest, day);
  const present = priceOn(prices, day);
  if (
    stated !== undefined &&
    (present === undefined || !isDeepStrictEqual(statedBy(present), statedBy(stated)))
  ) {
    const rest = prices.filter(({ valid_from }) => valid_from !== day);
    prices.splice(0, prices.length, ...rest, { ...stated, valid_from: day, seen: day });
  }
  return {
    ...before,
    prices: prices.sort((one, other) => ((one.valid_from ?? '') < (other.valid_from ?? '') ? -1 : 1)),
  };
}

/**
 * The published list after a newer one, which was read on a day. Prices whose start a list doesn't tell begin on the day on which they were
 * first read, unless the model is new. So no earlier day moves. A model that the newer list lacks stays.
 */
export async function newerPrices(
  before: PublishedList | undefined,
  list: VendorList,
  from: string,
  day: Day,
): Promise<PublishedList> {
  const models = new Map((before?.models ?? []).map((model) => [model.id, model]));
  for (const newer of await modelsByKey(list)) {
    const known = models.get(newer.id);
    const seen = before === undefined ? {} : { seen: day };
    models.set(
      newer.id,
      known === undefined
        ? { ...newer, prices: newer.prices.map((price) => ({ ...price, ...seen })) }
        : updatedModel(known, newer, list.form, day),
    );
  }
  return {
    from,
    updated: day,
    models: [...models.values()].sort((one, other) => (one.id < other.id ? -1 : 1)),
  };
}

/** A price that begins to count, or counts no longer. */
export interface PriceChange {
  readonly model_id: string;
  readonly valid_from: Day;
  /** As `input 5 → 4`. */
  readonly change: string;
}

const DIFFERS = [...KINDS, 'web_search'] as const;

/** How two states of the lists differ, by model and first day. */
export function priceChanges(before: Lists, after: Lists): PriceChange[] {
  const old = mergedPrices(before);
  return [...mergedPrices(after)].flatMap(([model_id, prices]) => {
    const known = old.get(model_id) ?? [];
    const days = [...new Set([...prices, ...known].map(({ valid_from }) => valid_from))].sort();
    return days.flatMap((day) => {
      const [was, is] = [priceOn(known, day), priceOn(prices, day)];
      const parts = DIFFERS.filter(
        (kind) => was?.[kind] !== is?.[kind] && (was?.[kind] ?? is?.[kind] ?? null) !== null,
      ).map((kind) => `${kind} ${was?.[kind] ?? 'unknown'} → ${is?.[kind] ?? 'unknown'}`);
      if (!isDeepStrictEqual(was?.above, is?.above))
        parts.push(
          is?.above === undefined
            ? 'one price for all prompts'
            : `other prices above ${is.above.tokens} tokens`,
        );
      return parts.length === 0 ? [] : [{ model_id, valid_from: day, change: parts.join(', ') }];
    });
  });
}
