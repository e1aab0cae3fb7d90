import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addDays, type Day, dayOf, MS_PER_DAY } from '../src/day.js';
import { randomOf } from './random.js';
import type { AtEnd } from './world.js';

type Below = (most: number) => number;

/** Whole numbers below another one, the same for the same seed. */
function belowOf(seed: number): Below {
  const random = randomOf(seed);
  return (most) => Math.floor(random() * most);
}

/** What goes wrong with a request. */
export type Fault = 'early' | 'down' | 'cut' | 'reset' | 'shape';

/** A request that came, and the page that it asks for. */
export interface VendorRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** What answers requests of one vendor: JSON, or a status. */
export type VendorAnswers = (request: VendorRequest, vendor: StandIn) => unknown;

/** A status without a body that helps. */
export class Status {
  constructor(
    readonly status: number,
    readonly headers: Record<string, string> = {},
  ) {}
}

/**
 * A server that answers as vendors document: with pages, limits, revisions and faults. Its answers depend on its seed and its clock alone;
 * what goes wrong, on the seed and the number of the request.
 */
export class StandIn {
  /** The vendor's clock: Unix milliseconds. */
  now = 0;
  /** How many of a hundred requests go wrong in each way. */
  faults: Partial<Record<Fault, number>> = {};
  /** Whether all requests fail. */
  isDown = false;
  requests: VendorRequest[] = [];
  url = '';
  private readonly below: Below;

  private constructor(
    readonly seed: number,
    private readonly answers: VendorAnswers,
  ) {
    this.below = belowOf(seed);
  }

  static async start(seed: number, answers: VendorAnswers, atEnd: AtEnd): Promise<StandIn> {
    const vendor = new StandIn(seed, answers);
    const server = createServer((request, response) => void vendor.answer(request, response));
    const listening = once(server, 'listening');
    server.listen(0, '127.0.0.1');
    await listening;
    atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    vendor.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return vendor;
  }

  get host(): string {
    return new URL(this.url).host;
  }

  private fault(): Fault | undefined {
    let place = this.below(100);
    for (const [fault, share = 0] of Object.entries(this.faults) as [Fault, number?][]) {
      if (place < share) return fault;
      place -= share;
    }
    return undefined;
  }

  private async answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const request = {
      ...{ method: incoming.method ?? '', url: new URL(incoming.url ?? '', this.url) },
      ...{ headers: incoming.headers, body: Buffer.concat(pieces).toString() },
    };
    this.requests.push(request);
    const fault = this.isDown ? 'down' : this.fault();
    if (fault === 'early') return void response.writeHead(429, { 'retry-after': '7' }).end('{"error":{}}');
    if (fault === 'down') return void response.writeHead(503).end('<html>upstream</html>');
    if (fault === 'reset') return void incoming.socket.destroy();
    const answer = this.answers(request, this);
    if (answer instanceof Status) return void response.writeHead(answer.status, answer.headers).end();
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    if (fault === 'cut') {
      // A proxy that ends a page early may call it whole.
      const half = text.slice(0, text.length / 2);
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(half);
    }
    // A number that became a text is in no version of the documentation.
    const sent = fault === 'shape' ? text.replaceAll(/":(\d+)/g, '":"$1"') : text;
    response.writeHead(200, { 'content-type': 'application/json' }).end(sent);
  }
}

/** A page of a list, and the token of the next one. */
export function pageOf<T>(rows: readonly T[], token: string | null, size: number) {
  const at = Number(token?.replace(/^page_/, '') ?? 0);
  const next = at + size < rows.length ? `page_${at + size}` : null;
  return { data: rows.slice(at, at + size), has_more: next !== null, next_page: next };
}

/** People of a vendor, by number. */
export const personOf = (number: number) => `person${number}@acme.example`;

const MODELS = ['claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5'];

/** What one person used of one model, as the vendor says it so many days after the day. */
export interface Told {
  readonly user: string;
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cents: number;
  readonly added: number;
  readonly removed: number;
  readonly commits: number;
}

/** What the vendor says of a day: people come late, vanish and are changed until the day is as many days old as it is revised for. */
export function toldOf(seed: number, people: number, revisedDays: number, day: Day, now: number): Told[] {
  const age = Math.min(revisedDays, Math.floor((now - Date.parse(day)) / MS_PER_DAY));
  if (age < 1) return [];
  const told: Told[] = [];
  for (let person = 0; person < people; person += 1) {
    const below = belowOf(seed * 1_000_003 + person * 1009 + Date.parse(day) / MS_PER_DAY);
    // At weekends fewer people work.
    const isAtWork = below(10) < ([0, 6].includes(new Date(day).getUTCDay()) ? 1 : 8);
    const from = below(4) === 0 ? below(revisedDays) : 0;
    const until = below(12) === 0 ? 1 + below(revisedDays) : revisedDays + 1;
    const revisions = Array.from({ length: below(4) }, () => 1 + below(revisedDays));
    const models = 1 + below(2);
    const facts = Array.from({ length: models }, (_, place) => ({
      model: MODELS[(person + place) % MODELS.length] ?? '',
      ...{ input: below(90_000), output: below(40_000), cacheRead: below(900_000) },
      ...{ cacheWrite: below(60_000), cents: below(4000) },
      ...{ added: below(400), removed: below(90), commits: below(4) },
    }));
    if (!isAtWork || age < from || age > until) continue;
    const revised = 1 + revisions.filter((at) => at <= age).length;
    for (const one of facts)
      told.push({
        ...{ ...one, user: personOf(person), input: one.input * revised, output: one.output + revised },
        added: one.added * revised,
      });
  }
  return told;
}

/** Anthropic's Admin API, as far as it is pulled: https://platform.claude.com/docs/en/manage-claude/claude-code-analytics-api */
export function anthropic(people: number, revisedDays: number, pageSize = 20): VendorAnswers {
  return ({ url, headers }, { seed, now }) => {
    if (headers['x-api-key'] !== 'sk-ant-admin01-right') return new Status(401);
    if (url.pathname !== '/v1/organizations/usage_report/claude_code') return new Status(404);
    const day = url.searchParams.get('starting_at') as Day;
    const told = toldOf(seed, people, revisedDays, day, now);
    const users = [...new Set(told.map(({ user }) => user))];
    const rows = users.flatMap((user) => {
      const own = told.filter((one) => one.user === user);
      // Each model was used in another terminal.
      return own.map((one, place) => ({
        ...{ date: `${day}T00:00:00Z`, actor: { type: 'user_actor', email_address: user } },
        ...{ organization_id: 'dc9f6c26', customer_type: 'api', terminal_type: `terminal ${place}` },
        core_metrics: {
          num_sessions: 1 + place,
          lines_of_code: { added: one.added, removed: one.removed },
          ...{ commits_by_claude_code: one.commits, pull_requests_by_claude_code: 0 },
        },
        tool_actions: { edit_tool: { accepted: 3, rejected: 1 } },
        model_breakdown: [
          {
            model: one.model,
            tokens: {
              ...{ input: one.input, output: one.output },
              ...{ cache_read: one.cacheRead, cache_creation: one.cacheWrite },
            },
            estimated_cost: { currency: 'USD', amount: one.cents },
          },
        ],
      }));
    });
    return pageOf(
      rows,
      url.searchParams.get('page'),
      Math.min(pageSize, Number(url.searchParams.get('limit'))),
    );
  };
}

/** For how many days the activity of an enterprise is revised, and after how many it is there. */
export const ACTIVITY = { revised: 14, late: 4 };

/** Anthropic's analytics of an enterprise: https://platform.claude.com/docs/en/api/beta/organization/analytics */
export function anthropicEnterprise(people: number, revisedDays: number, pageSize = 20): VendorAnswers {
  return ({ url, headers }, { seed, now }) => {
    if (headers['x-api-key'] !== 'sk-ant-analytics-right') return new Status(401);
    const { searchParams: asked, pathname } = url;
    const size = Math.min(pageSize, Number(asked.get('limit')));
    const page = <Row>(rows: readonly Row[]) => ({
      ...{ organization_id: 'org_xyz', ...pageOf(rows, asked.get('page'), size) },
      data_refreshed_at: new Date(now).toISOString(),
    });
    if (pathname === '/v1/organizations/analytics/users') {
      const day = asked.get('date') as Day;
      if (Date.parse(day) + ACTIVITY.late * MS_PER_DAY > now) return new Status(400);
      const told = toldOf(seed, people, ACTIVITY.revised, day, now);
      const zero = { added_count: 0, removed_count: 0 };
      const rows = [...new Set(told.map(({ user }) => user))].map((user, place) => {
        const own = told.filter((one) => one.user === user);
        const sum = (of: (one: Told) => number) => own.reduce((total, one) => total + of(one), 0);
        return {
          user: { id: `user_${place}`, email_address: user, type: 'user' },
          chat_metrics: { message_count: 7, lines_of_code: zero },
          claude_code_metrics: {
            core_metrics: {
              ...{ commit_count: sum(({ commits }) => commits), pull_request_count: own.length },
              ...{ distinct_session_count: 3, artifacts_created_count: 0 },
              lines_of_code: {
                added_count: sum(({ added }) => added),
                removed_count: sum(({ removed }) => removed),
              },
            },
            tool_actions: {},
          },
          ...{ web_search_count: 1, rbac_group_id: null, rbac_group_name: null },
        };
      });
      return page(rows);
    }
    const report = /^\/v1\/organizations\/analytics\/user_(usage|cost)_report$/.exec(pathname)?.[1];
    if (report === undefined) return new Status(404);
    const day = asked.get('starting_at')?.slice(0, 10) as Day;
    const isByModel = ['product', 'model', 'speed'].every((one) => asked.getAll('group_by[]').includes(one));
    if (!isByModel || asked.get('ending_at') !== `${addDays(day, 1)}T00:00:00Z`) return new Status(400);
    const rows = toldOf(seed, people, revisedDays, day, now).flatMap(({ user, ...one }, place) =>
      // What can't be attributed to a product is there whatever is asked for.
      ['claude_code', ...(place % 5 === 0 ? [null] : [])].map((product) => ({
        actor: { type: 'user_actor', user_id: `user_${user}`, email_address: user, deleted: false },
        ...{ starting_at: `${day}T00:00:00Z`, ending_at: `${addDays(day, 1)}T00:00:00Z` },
        ...{ product, model: one.model, speed: 'standard', context_window: null, requests: 3 },
        ...(report === 'cost'
          ? { currency: 'USD', amount: `${one.cents}.0`, list_amount: `${one.cents + 9}.5` }
          : {
              ...{ uncached_input_tokens: one.input, output_tokens: one.output },
              cache_creation: {
                ephemeral_5m_input_tokens: one.cacheWrite - Math.floor(one.cacheWrite / 3),
                ephemeral_1h_input_tokens: Math.floor(one.cacheWrite / 3),
              },
              cache_read_input_tokens: one.cacheRead,
              ...{ total_tokens: 1, server_tool_use: { web_search_requests: 2 } },
            }),
      })),
    );
    return page(rows);
  };
}

/** Cursor's Admin API, as far as it is pulled: https://cursor.com/docs/account/teams/admin-api */
export function cursor(people: number, revisedDays: number, pageSize = 20): VendorAnswers {
  return ({ url, headers, method, body }, { seed, now }) => {
    const [, basic = ''] = (headers.authorization ?? '').split('Basic ');
    if (Buffer.from(basic, 'base64').toString() !== 'key_cursor_right:') return new Status(401);
    if (method !== 'POST' || !/^\/teams\/(filtered-usage-events|daily-usage-data)$/.test(url.pathname))
      return new Status(404);
    const { startDate, endDate, page = 1, pageSize: asked = 10 } = JSON.parse(body);
    const told = daysOf(startDate, endDate).flatMap((day) =>
      toldOf(seed, people, revisedDays, day, now).map((one) => ({ ...one, day })),
    );
    if (url.pathname.endsWith('/daily-usage-data')) {
      // Everybody who has a seat has a row.
      const rows = daysOf(startDate, endDate).flatMap((day) =>
        Array.from({ length: people }, (_, place) => {
          const own = told.filter((one) => one.user === personOf(place) && one.day === day);
          const sum = (of: (one: Told) => number) => own.reduce((total, one) => total + of(one), 0);
          return {
            ...{
              userId: place,
              day,
              date: Date.parse(day),
              email: personOf(place),
              isActive: own.length > 0,
            },
            ...{
              totalLinesAdded: 5000,
              totalLinesDeleted: 4000,
              acceptedLinesAdded: sum(({ added }) => added),
            },
            ...{ acceptedLinesDeleted: sum(({ removed }) => removed), totalTabsShown: 9 },
            ...{ composerRequests: sum(({ commits }) => commits), chatRequests: own.length },
            ...{ agentRequests: 0, cmdkUsages: 0, mostUsedModel: 'gpt-4' },
          };
        }),
      );
      const size = Math.min(7, asked);
      const totalPages = Math.ceil(rows.length / size);
      return {
        data: rows.slice((page - 1) * size, page * size),
        period: { startDate, endDate },
        pagination: {
          ...{ page, pageSize: size, totalUsers: people, totalPages },
          ...{ hasNextPage: page < totalPages, hasPreviousPage: page > 1 },
        },
      };
    }
    const events = told.map(({ user, day, ...one }, place) => ({
      ...{ timestamp: String(Date.parse(day) + 60_000 * place), model: one.model, kind: 'Usage-based' },
      ...{
        maxMode: false,
        requestsCosts: 1,
        isTokenBasedCall: true,
        userEmail: user,
        isHeadless: place % 2 === 0,
      },
      tokenUsage: {
        ...{ inputTokens: one.input, outputTokens: one.output, cacheWriteTokens: one.cacheWrite },
        ...{ cacheReadTokens: one.cacheRead, totalCents: one.cents / 2 },
      },
      chargedCents: one.cents,
    }));
    // A request that isn't counted in tokens.
    events.push(...(told.length === 0 ? [] : [{ ...events[0], tokenUsage: undefined } as never]));
    const size = Math.min(pageSize, asked);
    const numPages = Math.ceil(events.length / size);
    return {
      totalUsageEventsCount: events.length,
      pagination: {
        numPages,
        currentPage: page,
        pageSize: size,
        hasNextPage: page < numPages,
        hasPreviousPage: page > 1,
      },
      usageEvents: events.slice((page - 1) * size, page * size),
      period: { startDate, endDate },
    };
  };
}

/** Lines of Copilot, of which three times as many were suggested outside of its CLI. */
const locOf = (own: readonly Told[], times: number) => ({
  loc_suggested_to_add_sum: times * own.reduce((sum, { added }) => sum + added, 0),
  loc_suggested_to_delete_sum: 0,
  loc_added_sum: own.reduce((sum, { added }) => sum + added, 0),
  loc_deleted_sum: own.reduce((sum, { removed }) => sum + removed, 0),
});

/** GitHub's report on the users of Copilot: an answer with links to files, which are fetched without a key. */
export function github(people: number, revisedDays: number, pageSize = 5): VendorAnswers {
  return ({ url, headers }, { seed, now, url: base }) => {
    const [, file, part] = /^\/files\/([\d-]+)-part(\d+)\.ndjson$/.exec(url.pathname) ?? [];
    const day = (file ?? url.searchParams.get('day')) as Day;
    const told = toldOf(seed, people, revisedDays, day, now);
    const users = [...new Set(told.map(({ user }) => user))];
    const rows = users.map((user) => {
      const own = told.filter((one) => one.user === user);
      const sum = (of: (one: Told) => number) => own.reduce((total, one) => total + of(one), 0);
      return {
        ...{ day, user_id: 1, user_login: user, enterprise_id: '1', used_cli: true, ai_credits_used: 2.5 },
        ...{ user_initiated_interaction_count: sum(({ commits }) => commits), totals_by_ide: [] },
        ...locOf(own, 0),
        loc_suggested_to_add_sum: locOf(own.slice(1), 3).loc_suggested_to_add_sum,
        // The first model is used in the CLI.
        totals_by_feature: [
          { feature: 'copilot_cli', ...locOf(own.slice(0, 1), 0) },
          { feature: 'code_completion', ...locOf(own.slice(1), 3) },
        ],
        totals_by_cli: {
          ...{ session_count: 1, request_count: 2, prompt_count: own[0]?.commits ?? 0 },
          token_usage: {
            prompt_tokens_sum: sum(({ input, cacheRead }) => input + cacheRead),
            ...{ output_tokens_sum: sum(({ output }) => output), avg_tokens_per_request: 4400.5 },
          },
        },
      };
    });
    if (part !== undefined) {
      if (headers.authorization !== undefined || url.searchParams.get('sig') !== 'abc')
        return new Status(400);
      const own = rows.slice(Number(part) * pageSize, (Number(part) + 1) * pageSize);
      return own.map((row) => `${JSON.stringify(row)}\n`).join('');
    }
    if (headers.authorization !== 'Bearer ghp_right_key') return new Status(401);
    if (headers['x-github-api-version'] !== '2026-03-10') return new Status(400);
    if (url.pathname !== '/orgs/acme/copilot/metrics/reports/users-1-day') return new Status(404);
    if (rows.length === 0) return [];
    const download_links = Array.from(
      { length: Math.ceil(rows.length / pageSize) },
      (_, place) => `${base}/files/${day}-part${place}.ndjson?sig=abc`,
    );
    return { download_links, report_day: day };
  };
}

/** OpenAI's Codex Enterprise Analytics API: the usage of a workspace. */
export function openai(people: number, revisedDays: number, pageSize = 7): VendorAnswers {
  return ({ url, headers }, { seed, now }) => {
    if (headers.authorization !== 'Bearer sk-codex-right') return new Status(401);
    if (url.pathname !== '/v1/analytics/codex/workspaces/ws_1/usage') return new Status(404);
    const [start_time, end_time] = ['start_time', 'end_time'].map((name) =>
      Number(url.searchParams.get(name)),
    );
    const told = toldOf(seed, people, revisedDays, dayOf((start_time ?? 0) * 1000), now);
    const tokensOf = ({ input, cacheRead, output }: Told) => ({
      ...{
        uncached_text_input_tokens: input,
        cached_text_input_tokens: cacheRead,
        text_output_tokens: output,
      },
      text_total_tokens: input + cacheRead + output,
    });
    const rows = [...new Set(told.map(({ user }) => user))].map((email) => {
      const own = told.filter(({ user }) => user === email);
      return {
        ...{ object: 'workspace.codex.usage.result', start_time, end_time, user_id: `user_${email}` },
        actor: { type: 'ACCOUNT_USER', user_id: `user_${email}`, email },
        totals: { threads: 1, turns: 2, credits: 12.5, ...tokensOf(own[0] as Told) },
        clients: [{ client_id: 'CODEX_CLI', threads: 1, turns: 2, credits: 12.5 }],
        models: own.map((one) => ({ model: one.model, speed: 'standard', credits: 1.5, ...tokensOf(one) })),
        code_attribution: {
          lines_of_code: {
            added: own.reduce((sum, { added }) => sum + added, 0),
            removed: own.reduce((sum, { removed }) => sum + removed, 0),
            ...{ committed: 1, committed_percentage: 27 },
          },
        },
      };
    });
    // Of a plan that doesn't count tokens.
    const uncounted = {
      ...{ uncached_text_input_tokens: null, cached_text_input_tokens: null, text_output_tokens: null },
    };
    if (rows.length > 0)
      rows.push({
        ...(rows[0] as (typeof rows)[number]),
        ...({
          user_id: 'user_def456',
          actor: { email: null },
          totals: uncounted,
          models: null,
          code_attribution: null,
        } as object),
      });
    const size = Math.min(pageSize, Number(url.searchParams.get('limit')));
    return { object: 'page', ...pageOf(rows, url.searchParams.get('page'), size) };
  };
}

/** The usage of OpenAI's API by person and model: a bucket of a day, with a page of its results. */
export function openaiApi(people: number, revisedDays: number, pageSize = 9): VendorAnswers {
  return ({ url, headers }, { seed, now }) => {
    const { searchParams: asked, pathname } = url;
    if (headers.authorization !== 'Bearer sk-admin-right') return new Status(401);
    if (pathname === '/v1/organization/users') {
      const ids = Array.from({ length: people }, (_, place) => `user-${place}`);
      const from = ids.indexOf(asked.get('after') ?? '') + 1;
      const data = ids.slice(from, from + 5).map((id, place) => ({
        ...{ object: 'organization.user', id, name: null, email: personOf(from + place), role: 'reader' },
      }));
      return { object: 'list', data, has_more: from + 5 < people, last_id: data.at(-1)?.id ?? null };
    }
    if (pathname !== '/v1/organization/usage/completions') return new Status(404);
    const groups = asked.getAll('group_by');
    if (!groups.includes('user_id') || !groups.includes('model')) return new Status(400);
    const [start_time, end_time] = ['start_time', 'end_time'].map((name) => Number(asked.get(name)));
    const told = toldOf(seed, people, revisedDays, dayOf((start_time ?? 0) * 1000), now);
    const results = told.flatMap((one, place) => {
      const result = {
        ...{ object: 'organization.usage.completions.result', num_model_requests: 3, project_id: null },
        ...{ input_tokens: one.input + one.cacheRead, input_cached_tokens: one.cacheRead },
        ...{ output_tokens: one.output, user_id: one.user.replace(/^person(\d+)@.*$/, 'user-$1') },
        ...{ model: `${one.model}-codex`, batch: null },
      };
      // What an application used, and what nobody did.
      const others = [
        { ...result, model: one.model },
        { ...result, user_id: null },
      ];
      return [result, ...(place % 3 === 0 ? others : [])];
    });
    const { data, ...page } = pageOf(results, asked.get('page'), pageSize);
    return {
      ...{ object: 'page', ...page },
      data: results.length === 0 ? [] : [{ object: 'bucket', start_time, end_time, results: data }],
    };
  };
}

/** The days in which a range of Unix milliseconds has an instant. */
function daysOf(from: number, to: number): Day[] {
  const days: Day[] = [];
  for (let day = dayOf(from); day <= dayOf(to); day = addDays(day, 1)) days.push(day);
  return days;
}

/** The days of a month before a day. */
export function daysBefore(now: number, count: number): Day[] {
  const today = dayOf(now);
  return Array.from({ length: count }, (_, place) => addDays(today, place - count));
}
