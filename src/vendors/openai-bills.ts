import { z } from 'zod';
import { addDays, type Day } from '../day.js';
import { Amount, type Bill, dollars, REVISED_DAYS, requireDollars } from './vendor-bill.js';
import { PullFault, type VendorClient } from './vendor-client.js';

const count = z.number().int().min(0).nullish();

/** A bucket of a day. */
const bucketOf = <Result extends z.ZodType>(Result: Result) =>
  z.object({ start_time: z.number().int(), results: z.array(Result) });

/** https://platform.openai.com/docs/api-reference/usage/costs */
const CostBucket = bucketOf(
  z.object({
    // Dollars.
    amount: z.object({ value: Amount, currency: z.string() }),
    line_item: z.string().nullish(),
  }),
);

/** https://platform.openai.com/docs/api-reference/usage/completions. Input has what came from a cache. */
const UsageBucket = bucketOf(
  z.object({ model: z.string().nullish(), input_tokens: count, output_tokens: count }),
);

/** All results of a day of a report. */
async function resultsOf<Result extends z.ZodType>(
  client: VendorClient,
  Bucket: ReturnType<typeof bucketOf<Result>>,
  day: Day,
  asked: string,
): Promise<z.infer<Result>[]> {
  const [start, end] = [day, addDays(day, 1)].map((one) => Date.parse(one) / 1000);
  const path = `${asked}&start_time=${start}&end_time=${end}&bucket_width=1d`;
  const buckets = await client.rows(Bucket, path);
  return buckets.flatMap(({ start_time, results }) => {
    if (start_time !== start)
      throw new PullFault(`OpenAI answers for another day when it is asked for ${day}`);
    return results;
  });
}

/** What OpenAI bills an organization for its API, by the items of the bill. ChatGPT's plans aren't in it. */
export const OPENAI_COSTS: Bill = {
  vendor: 'openai',
  name: 'openai-costs',
  tells: 'money',
  revisedDays: REVISED_DAYS,
  fetch: async (client, day) => {
    const results = await resultsOf(client, CostBucket, day, '/v1/organization/costs?group_by=line_item');
    return results.map(({ amount: { value, currency }, line_item }) => {
      requireDollars('OpenAI', currency);
      const usd = dollars(value);
      return { item: line_item ?? '', usd, gross_usd: usd, tokens: null };
    });
  },
};

/** The tokens of an organization's API, by model, whoever used them. */
export const OPENAI_COMPLETIONS: Bill = {
  vendor: 'openai',
  name: 'openai-completions',
  tells: 'tokens',
  revisedDays: REVISED_DAYS,
  fetch: async (client, day) => {
    const asked = '/v1/organization/usage/completions?group_by=model';
    const results = await resultsOf(client, UsageBucket, day, asked);
    return results.map(({ model, input_tokens, output_tokens }) => ({
      ...{ item: model ?? '', usd: null, gross_usd: null },
      tokens: (input_tokens ?? 0) + (output_tokens ?? 0),
    }));
  },
};
