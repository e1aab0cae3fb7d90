import { z } from 'zod';
import { type Day, DaySchema } from '../day.js';
import { UsageError } from '../exit.js';
import { isObject } from '../input/json-object.js';
import { KINDS, type PublishedPrice, STEPS } from '../store/price-list.js';

/** A model in a published list, by the names that its vendor sells it under, with its prices: the undated first, then by day. */
export interface VendorModel {
  readonly names: readonly string[];
  /** The page that states the prices. */
  readonly source: string;
  readonly prices: readonly PublishedPrice[];
  /** Whether the key of a name belongs to the vendor: cloud providers also list models of others. */
  readonly isOwn: (key: string) => boolean;
}

/** A published list, whatever its form. */
export interface VendorList {
  readonly form: 'genai-prices' | 'litellm';
  readonly models: readonly VendorModel[];
}

/** The vendors whose own prices are read, and how the keys of their models begin. Of two with one model the first counts. */
const VENDORS = {
  anthropic: {
    keys: /^claude-/,
    litellm: ['anthropic'],
    page: 'https://platform.claude.com/docs/en/about-claude/pricing',
  },
  openai: {
    // Others sell the models whose weights are open.
    keys: /^(?:gpt-(?!oss)|o\d|codex|chatgpt|computer-use)/,
    litellm: ['openai', 'text-completion-openai'],
    page: 'https://developers.openai.com/api/docs/pricing',
  },
  google: { keys: /^gemini-/, litellm: ['gemini'], page: 'https://ai.google.dev/gemini-api/docs/pricing' },
  'x-ai': { keys: /^grok-/, litellm: ['xai'], page: 'https://docs.x.ai/docs/models' },
  deepseek: {
    keys: /^deepseek-/,
    litellm: ['deepseek'],
    page: 'https://api-docs.deepseek.com/quick_start/pricing',
  },
  mistral: {
    keys: /^(?:mistral|codestral|devstral|magistral|ministral|pixtral|open-mi)/,
    litellm: ['mistral'],
    page: 'https://mistral.ai/pricing',
  },
  moonshotai: {
    keys: /^(?:kimi|moonshot)-/,
    litellm: ['moonshot'],
    page: 'https://platform.moonshot.ai/docs/pricing',
  },
  zai: { keys: /^glm-/, litellm: ['zai'], page: 'https://docs.z.ai/guides/overview/pricing' },
  zhipuai: { keys: /^glm-/, litellm: [], page: 'https://open.bigmodel.cn/pricing' },
  minimax: { keys: /^minimax-/, litellm: ['minimax'], page: 'https://platform.minimax.io/docs/pricing' },
  cohere: { keys: /^command/, litellm: ['cohere_chat', 'cohere'], page: 'https://cohere.com/pricing' },
  perplexity: { keys: /^sonar/, litellm: ['perplexity'], page: 'https://docs.perplexity.ai/guides/pricing' },
  cursor: { keys: /^composer-/, litellm: [], page: 'https://cursor.com/docs/models' },
  arcee: { keys: /^trinity-/, litellm: [], page: 'https://docs.arcee.ai' },
} as const;

const Tiered = z.object({
  base: z.number(),
  tiers: z.array(z.object({ start: z.number(), price: z.number() })),
});
/** Prices of audio, images and the like are numbers too, and don't matter here. */
const ModelPrice = z.record(z.string(), z.union([z.number(), Tiered]));
const Conditional = z.array(
  z.object({
    constraint: z
      .union([z.object({ start_date: DaySchema }), z.object({ start_time: z.string() })])
      .optional(),
    prices: ModelPrice,
  }),
);

const Provider = z.object({
  id: z.string(),
  pricing_urls: z.array(z.string()).optional(),
  models: z.array(
    z.object({ id: z.string(), match: z.unknown(), prices: z.union([Conditional, ModelPrice]) }),
  ),
});

const LiteLlmModel = z.looseObject({ litellm_provider: z.string(), mode: z.string().optional() });

/** Reads the data of genai-prices or of LiteLLM, which are told apart by their form. Throws a UsageError for anything else. */
export function vendorList(json: unknown, from: string): VendorList {
  const providers = isObject(json) && Array.isArray(json.providers) ? json.providers : json;
  const parsed = z.array(Provider).safeParse(providers);
  if (parsed.success)
    return named({ form: 'genai-prices', models: parsed.data.flatMap(modelsOfProvider) }, from);
  if (isObject(json) && !Array.isArray(json)) {
    const models = Object.entries(json).flatMap(([name, model]) => {
      const one = LiteLlmModel.safeParse(model);
      return one.success ? modelOfLiteLlm(name, one.data) : [];
    });
    if (models.length > 0) return named({ form: 'litellm', models }, from);
  }
  throw new UsageError(
    `${from} has neither the form of genai-prices' data.json nor that of LiteLLM's model_prices_and_context_window.json: nothing was changed.`,
  );
}

/** Refuses a list without a model of the largest vendor: it is cut, or about something else. */
function named(list: VendorList, from: string): VendorList {
  if (!list.models.some(({ names }) => names.some((name) => name.includes('claude'))))
    throw new UsageError(
      `${from} has no price of any Claude model, so it can't be whole: nothing was changed.`,
    );
  return list;
}

/** A price that a list states, in USD for a million tokens; rounded to what a price can have. */
function usd(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** The length of a prompt that a list means: some begin at the first token of the dearer part, some at the last of the cheaper. */
function stepOf(start: number): (typeof STEPS)[number] | undefined {
  return STEPS.find((step) => Math.abs(step - start) <= 1);
}

const UNITS = {
  input: 'input_mtok',
  output: 'output_mtok',
  cache_read: 'cache_read_mtok',
  cache_write: 'cache_write_mtok',
  cache_write_1h: 'cache_write_1h_mtok',
} as const;

/** Prices without those of a list that lacks them. */
function priceOf(kinds: Partial<Record<(typeof KINDS)[number], number>>) {
  return Object.fromEntries(KINDS.map((kind) => [kind, kinds[kind] ?? null])) as Record<
    (typeof KINDS)[number],
    number | null
  >;
}

/** One price of the package; undefined if it has several steps or one that day tables don't keep apart. */
function entryOf(prices: z.infer<typeof ModelPrice>, day: Day | undefined): PublishedPrice | undefined {
  const base: Partial<Record<(typeof KINDS)[number], number>> = {};
  const above: Partial<Record<(typeof KINDS)[number], number>> = {};
  const starts = new Set<number>();
  for (const kind of KINDS) {
    const price = prices[UNITS[kind]];
    if (price === undefined) continue;
    base[kind] = usd(typeof price === 'number' ? price : price.base);
    above[kind] = base[kind];
    if (typeof price === 'number') continue;
    for (const tier of price.tiers) {
      starts.add(tier.start);
      above[kind] = usd(tier.price);
    }
  }
  const [start] = starts;
  const tokens = start === undefined ? undefined : stepOf(start);
  if (starts.size > 1 || (start !== undefined && tokens === undefined)) return undefined;
  const search = prices.web_searches_kcount;
  return {
    ...(day === undefined ? {} : { valid_from: day }),
    ...priceOf(base),
    ...(tokens === undefined ? {} : { above: { tokens, ...priceOf(above) } }),
    web_search: typeof search === 'number' ? usd(search) : null,
  };
}

function hasTokens(price: PublishedPrice): boolean {
  return price.input !== null && price.output !== null;
}

/** The names that match a model exactly. Beginnings and patterns of names also match longer ones, which are other models. */
function exactNames(match: unknown): string[] {
  if (!isObject(match)) return [];
  if (typeof match.equals === 'string') return [match.equals];
  return Array.isArray(match.or) ? match.or.flatMap(exactNames) : [];
}

function modelsOfProvider({ id, pricing_urls, models }: z.infer<typeof Provider>): VendorModel[] {
  const vendor = Object.entries(VENDORS).find(([name]) => name === id)?.[1];
  if (vendor === undefined) return [];
  const source = pricing_urls?.find((url) => url.startsWith('https://')) ?? vendor.page;
  return models.flatMap(({ id: name, match, prices }) => {
    const conditional = Array.isArray(prices) ? prices : [{ prices }];
    const entries = conditional.map(({ constraint, prices: each }) =>
      // Usage has no time of day, so a model whose price depends on it has none.
      constraint !== undefined && 'start_time' in constraint
        ? undefined
        : entryOf(each, constraint?.start_date),
    );
    const known = entries.filter((entry) => entry !== undefined);
    if (known.length < entries.length || !known.every(hasTokens)) return [];
    const names = [name, ...exactNames(match)];
    return [{ names, source, prices: known, isOwn: (key: string) => vendor.keys.test(key) }];
  });
}

const COSTS = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cache_read: 'cache_read_input_token_cost',
  cache_write: 'cache_creation_input_token_cost',
  cache_write_1h: 'cache_creation_input_token_cost_above_1hr',
} as const;

function modelOfLiteLlm(name: string, model: z.infer<typeof LiteLlmModel>): VendorModel[] {
  const { litellm_provider: provider, mode = 'chat' } = model;
  const vendor = Object.values(VENDORS).find(({ litellm }) =>
    (litellm as readonly string[]).includes(provider),
  );
  if (vendor === undefined || !['chat', 'completion', 'responses'].includes(mode)) return [];
  const steps = new Set(Object.keys(model).flatMap((key) => /_above_(\d+)k_tokens$/.exec(key)?.[1] ?? []));
  const [step] = steps;
  const tokens = step === undefined ? undefined : stepOf(Number(step) * 1000);
  if (steps.size > 1 || (step !== undefined && tokens === undefined)) return [];
  const at = (behind: string) => {
    const costs: Partial<Record<(typeof KINDS)[number], number>> = {};
    for (const kind of KINDS) {
      const cost = model[`${COSTS[kind]}${behind}`] ?? model[COSTS[kind]];
      if (typeof cost === 'number') costs[kind] = usd(cost * 1e6);
    }
    return priceOf(costs);
  };
  const search = isObject(model.search_context_cost_per_query)
    ? model.search_context_cost_per_query.search_context_size_medium
    : undefined;
  const price: PublishedPrice = {
    ...at(''),
    ...(tokens === undefined ? {} : { above: { tokens, ...at(`_above_${step}k_tokens`) } }),
    web_search: typeof search === 'number' ? usd(search * 1000) : null,
  };
  const source =
    typeof model.source === 'string' && model.source.startsWith('https://') ? model.source : vendor.page;
  return hasTokens(price)
    ? [{ names: [name], source, prices: [price], isOwn: (key) => vendor.keys.test(key) }]
    : [];
}
