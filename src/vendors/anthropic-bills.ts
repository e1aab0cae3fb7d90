import { z } from 'zod';
import { addDays, type Day } from '../day.js';
import { Amount, type Bill, dollars, REVISED_DAYS, requireDollars } from './vendor-bill.js';
import { PullFault, type VendorClient } from './vendor-client.js';

const count = z.number().int().min(0).nullish();

/** A bucket of a day. */
const bucketOf = <Result extends z.ZodType>(Result: Result) =>
  z.object({ starting_at: z.string(), results: z.array(Result) });

/** https://platform.claude.com/docs/en/api/admin/cost_report */
const CostBucket = bucketOf(
  z.object({
    // Cents, as a decimal text.
    amount: Amount,
    currency: z.string(),
    description: z.string().nullish(),
    model: z.string().nullish(),
    cost_type: z.string().nullish(),
  }),
);

/** https://platform.claude.com/docs/en/api/admin/usage_report */
const UsageBucket = bucketOf(
  z.object({
    model: z.string().nullish(),
    uncached_input_tokens: count,
    cache_creation: z
      .object({ ephemeral_1h_input_tokens: count, ephemeral_5m_input_tokens: count })
      .nullish(),
    cache_read_input_tokens: count,
    output_tokens: count,
  }),
);

/** All results of a day of a report. */
async function resultsOf<Result extends z.ZodType>(
  client: VendorClient,
  Bucket: ReturnType<typeof bucketOf<Result>>,
  day: Day,
  asked: string,
): Promise<z.infer<Result>[]> {
  const path = `${asked}&starting_at=${day}T00:00:00Z&ending_at=${addDays(day, 1)}T00:00:00Z&bucket_width=1d`;
  const buckets = await client.rows(Bucket, path);
  return buckets.flatMap(({ starting_at, results }) => {
    if (!starting_at.startsWith(day))
      throw new PullFault(`Anthropic answers for ${starting_at.slice(0, 10)} when it is asked for ${day}`);
    return results;
  });
}

/** What Anthropic bills an organization for its API, by the words of the bill. Subscriptions aren't in it. */
export const ANTHROPIC_COSTS: Bill = {
  vendor: 'anthropic',
  name: 'anthropic-costs',
  tells: 'money',
  revisedDays: REVISED_DAYS,
  fetch: async (client, day) => {
    const asked = '/v1/organizations/cost_report?group_by[]=description';
    const results = await resultsOf(client, CostBucket, day, asked);
    return results.map(({ amount, currency, description, model, cost_type }) => {
      requireDollars('Anthropic', currency);
      const usd = dollars(amount, 2);
      return { item: description ?? model ?? cost_type ?? '', usd, gross_usd: usd, tokens: null };
    });
  },
};

/** The tokens of an organization's API, by model. */
export const ANTHROPIC_MESSAGES: Bill = {
  vendor: 'anthropic',
  name: 'anthropic-messages',
  tells: 'tokens',
  revisedDays: REVISED_DAYS,
  fetch: async (client, day) => {
    const asked = '/v1/organizations/usage_report/messages?group_by[]=model';
    const results = await resultsOf(client, UsageBucket, day, asked);
    return results.map(({ model, cache_creation, ...told }) => ({
      ...{ item: model ?? '', usd: null, gross_usd: null },
      tokens: [
        ...[told.uncached_input_tokens, told.cache_read_input_tokens, told.output_tokens],
        ...[cache_creation?.ephemeral_1h_input_tokens, cache_creation?.ephemeral_5m_input_tokens],
      ].reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0),
    }));
  },
};
