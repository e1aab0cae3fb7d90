import { z } from 'zod';
import { addDays, dayOf } from '../day.js';
import { PullFault, type VendorClient } from './vendor-client.js';
import { type Report, reportSource } from './vendor-report.js';

const count = z.number().int().min(0);

/** A bucket of the usage of the API: https://platform.openai.com/docs/api-reference/usage/completions */
const UsageBucket = z.object({
  start_time: z.number().int(),
  results: z.array(
    z.object({
      user_id: z.string().min(1).nullish(),
      model: z.string().min(1).nullish(),
      // With what was read from a cache.
      input_tokens: count,
      input_cached_tokens: count.nullish(),
      output_tokens: count,
    }),
  ),
});

/** A page of the people of the organization: https://platform.openai.com/docs/api-reference/users */
const UsersPage = z.object({
  data: z.array(z.object({ id: z.string().min(1), email: z.string().min(1).nullish() })),
  has_more: z.boolean(),
  last_id: z.string().nullish(),
});

/** Models that agents for code alone are used with. What others were used for, nobody says. */
const CODEX = /codex/i;

/** How many people are asked for at a time, the most that OpenAI gives. */
const PEOPLE = 100;

/** The addresses of people by their ids, asked for once in a pull. */
const addresses = new WeakMap<VendorClient, Promise<ReadonlyMap<string, string>>>();

async function addressesOf(client: VendorClient): Promise<ReadonlyMap<string, string>> {
  const path = `/v1/organization/users?limit=${PEOPLE}`;
  const pages = await client.pages(UsersPage, { path }, ({ has_more, last_id }) => {
    if (!has_more) return undefined;
    if (last_id == null) throw new PullFault('OpenAI says that there are more users, but not which ones');
    return { path: `${path}&after=${encodeURIComponent(last_id)}` };
  });
  return new Map(
    pages
      .flatMap(({ data }) => data)
      .flatMap(({ id, email }): [string, string][] => (email == null ? [] : [[id, email.toLowerCase()]])),
  );
}

/** What each person used of each model of Codex with a key of the API. Usage that is nobody's, such as that of service accounts, is left out. */
export const OPENAI_API_CODEX: Report = {
  vendor: 'openai-api',
  source: reportSource('openai-api-codex'),
  revisedDays: 7,
  fetch: async (client, day) => {
    const [start, end] = [day, addDays(day, 1)].map((one) => Date.parse(one) / 1000);
    const path = `/v1/organization/usage/completions?start_time=${start}&end_time=${end}&bucket_width=1d&limit=1&group_by=user_id&group_by=model`;
    const buckets = await client.rows(UsageBucket, path);
    if (buckets.some(({ start_time }) => dayOf(start_time * 1000) !== day))
      throw new PullFault(`OpenAI answers for another day when it is asked for ${day}`);
    const used = buckets
      .flatMap(({ results }) => results)
      .filter(({ user_id, model }) => user_id != null && CODEX.test(model ?? ''));
    if (used.length === 0) return [];
    const asked = addresses.get(client) ?? addressesOf(client);
    addresses.set(client, asked);
    const known = await asked.catch((error) => {
      addresses.delete(client);
      throw error;
    });
    return used.map(({ user_id, model, input_tokens, input_cached_tokens, output_tokens }) => {
      const email = known.get(user_id ?? '') ?? null;
      const cached = input_cached_tokens ?? 0;
      return {
        ...{ day, email, user: email ?? `openai:${user_id}`, model, cached, output: output_tokens },
        input: Math.max(0, input_tokens - cached),
      };
    });
  },
};
