import { addDays, type Day, dayOf } from '../src/day.js';
import { pageOf, Status, toldOf, type VendorAnswers } from './vendor-stand-in.js';

/** What a vendor bills for a model on a day. Money is in millionths of a cent, so that each amount has digits behind the cent. */
export interface Billed {
  readonly model: string;
  readonly millionths: bigint;
  readonly tokens: number;
}

/** What the vendor says of a day, as long after it: what people used, without people. */
export function billedOf(seed: number, people: number, revisedDays: number, day: Day, now: number): Billed[] {
  const sums = new Map<string, Billed>();
  for (const told of toldOf(seed, people, revisedDays, day, now)) {
    const { model, input, output, cacheRead, cacheWrite, cents } = told;
    const before = sums.get(model) ?? { model, millionths: 0n, tokens: 0 };
    sums.set(model, {
      model,
      millionths: before.millionths + BigInt(cents) * 1_000_000n + BigInt(input),
      tokens: before.tokens + input + output + cacheRead + cacheWrite,
    });
  }
  return [...sums.values()].sort((one, other) => (one.model < other.model ? -1 : 1));
}

/** An amount in another unit, as an exact decimal text. */
export function decimal(amount: bigint, places: number): string {
  const digits = String(amount).padStart(places + 1, '0');
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** Some results of a bucket at a time, as pages of Anthropic and OpenAI have them. */
function bucketsOf<T>(bucket: object, results: readonly T[], token: string | null) {
  const { data, ...page } = pageOf(results, token, 2);
  return { data: [{ ...bucket, results: data }], ...page };
}

/** Anthropic's report of messages, and of costs in cents: https://platform.claude.com/docs/en/api/admin/cost_report */
export function anthropicBills(people: number, revisedDays: number): VendorAnswers {
  return ({ url, headers }, { seed, now }) => {
    if (headers['x-api-key'] !== 'sk-ant-admin01-right') return new Status(401);
    const { searchParams: asked } = url;
    // Of people there is nothing.
    if (url.pathname.endsWith('/claude_code')) return { data: [], has_more: false, next_page: null };
    const day = String(asked.get('starting_at')).slice(0, 10) as Day;
    if (asked.get('ending_at') !== `${addDays(day, 1)}T00:00:00Z`) return new Status(400);
    if (asked.get('bucket_width') !== '1d') return new Status(400);
    const billed = billedOf(seed, people, revisedDays, day, now);
    const bucket = { starting_at: `${day}T00:00:00Z`, ending_at: `${addDays(day, 1)}T00:00:00Z` };
    const group = asked.get('group_by[]');
    if (url.pathname === '/v1/organizations/cost_report' && group === 'description') {
      const results = billed.map(({ model, millionths }) => ({
        ...{
          currency: 'USD',
          amount: decimal(millionths, 6),
          workspace_id: null,
          model,
          cost_type: 'tokens',
        },
        ...{ description: `${model} Usage - Tokens`, token_type: null, service_tier: 'standard' },
      }));
      return bucketsOf(bucket, results, asked.get('page'));
    }
    if (url.pathname !== '/v1/organizations/usage_report/messages' || group !== 'model')
      return new Status(404);
    const results = billed.map(({ model, tokens }) => ({
      ...{ model, workspace_id: null, api_key_id: null, uncached_input_tokens: tokens - 150 },
      cache_creation: { ephemeral_1h_input_tokens: 100, ephemeral_5m_input_tokens: 20 },
      ...{ cache_read_input_tokens: 25, output_tokens: 5, server_tool_use: { web_search_requests: 1 } },
    }));
    return bucketsOf(bucket, results, asked.get('page'));
  };
}

/** OpenAI's costs in dollars, which are numbers or texts, and its usage: https://platform.openai.com/docs/api-reference/usage/costs */
export function openaiBills(people: number, revisedDays: number): VendorAnswers {
  return ({ url, headers }, { seed, now }) => {
    if (headers.authorization !== 'Bearer sk-admin-right') return new Status(401);
    const { searchParams: asked } = url;
    const start_time = Number(asked.get('start_time'));
    if (Number(asked.get('end_time')) !== start_time + 86_400) return new Status(400);
    const billed = billedOf(seed, people, revisedDays, dayOf(start_time * 1000), now);
    const bucket = { object: 'bucket', start_time, end_time: start_time + 86_400 };
    const groups = asked.getAll('group_by');
    if (url.pathname === '/v1/organization/costs' && groups.includes('line_item')) {
      const results = billed.map(({ model, millionths }, place) => {
        const text = decimal(millionths, 8);
        const amount = { value: place % 2 === 0 ? Number(text) : text, currency: 'usd' };
        return {
          object: 'organization.costs.result',
          amount,
          line_item: `${model}, input`,
          project_id: null,
        };
      });
      return { object: 'page', ...bucketsOf(bucket, results, asked.get('page')) };
    }
    if (url.pathname !== '/v1/organization/usage/completions' || !groups.includes('model'))
      return new Status(404);
    const results = billed.map(({ model, tokens }) => ({
      ...{ object: 'organization.usage.completions.result', model, user_id: null, batch: null },
      ...{ input_tokens: tokens - 5, input_cached_tokens: 3, output_tokens: 5, num_model_requests: 4 },
    }));
    return { object: 'page', ...bucketsOf(bucket, results, asked.get('page')) };
  };
}

/** GitHub's AI credits, half of which are included in the plan: https://docs.github.com/en/rest/billing/usage */
export function githubBills(people: number, revisedDays: number): VendorAnswers {
  return ({ url, headers }, { seed, now }) => {
    if (headers.authorization !== 'Bearer ghp_right_key') return new Status(401);
    // Of people there is nothing.
    if (url.pathname === '/orgs/acme/copilot/metrics/reports/users-1-day') return [];
    if (url.pathname !== '/organizations/acme/settings/billing/ai_credit/usage') return new Status(404);
    const [year = 0, month = 0, date = 0] = ['year', 'month', 'day'].map((name) =>
      Number(url.searchParams.get(name)),
    );
    const day = new Date(Date.UTC(year, month - 1, date)).toISOString().slice(0, 10) as Day;
    const usageItems = billedOf(seed, people, revisedDays, day, now).flatMap(({ model, millionths }) =>
      ['monalisa', 'grace'].map((user) => ({
        ...{
          product: 'Copilot',
          sku: 'copilot_ai_credit',
          model,
          unitType: 'ai-credits',
          pricePerUnit: 0.01,
        },
        ...{ grossQuantity: 303.37267, discountQuantity: 197.192235, netQuantity: 106.180435, user },
        ...{
          grossAmount: Number(decimal(millionths, 8)),
          discountAmount: 0,
          netAmount: Number(decimal(millionths, 9)),
        },
      })),
    );
    return { timePeriod: { year, month }, organization: 'acme', usageItems };
  };
}
