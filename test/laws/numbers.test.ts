import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { activity, activityByClient } from '../oracle/activity.js';
import type { activityByAgent, tokensByAgent, usersByAgent } from '../oracle/agents.js';
import { answers as oracle } from '../oracle/answers.js';
import type { SentEvent } from '../oracle/event.js';
import { movingUsers, NOW, organization } from '../oracle/generate.js';
import { groups, sum } from '../oracle/lists.js';
import type { tokens, tokensByModel } from '../oracle/tokens.js';
import type { tools, toolsByToolName } from '../oracle/tools.js';
import type { users } from '../oracle/users.js';
import { STORES } from '../stores.js';
import type { World } from '../world.js';
import {
  answersOf,
  buildAtOnce,
  CIRCUMSTANCES,
  difference,
  hold,
  PRICE_LIST,
  RATE_CARD,
  rangesFault,
  sendAll,
} from './law.js';
import { pagesFault } from './pages.js';
import { ORGANIZATIONS, TIMEOUT_MS } from './settings.js';

type Numbers = Record<string, number>;

/** Throws where a sum over the rows of a day is another than what the day says. */
function expectSums(
  days: readonly { date: string }[],
  rows: readonly { date: string }[],
  members: readonly string[],
  what: string,
): void {
  const byDay = groups(rows, ({ date }) => date);
  for (const day of days) {
    for (const member of members) {
      const total = sum(
        (byDay.get(day.date) ?? []).map((row) => (row as unknown as Numbers)[member] ?? Number.NaN),
      );
      expect(total, `${what}: ${member} on ${day.date}`).toBe((day as unknown as Numbers)[member]);
    }
  }
}

const TOKENS = [
  'billable_tokens',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
];

const COUNTS_OF_USERS = [
  'tool_calls',
  'billable_tokens',
  'files_created',
  'files_edited',
  'git_commits',
  'git_prs_created',
  'mcp_calls',
  'skill_calls',
  'slash_commands',
  'hooks',
  'sessions',
  'messages',
  'user_messages',
  'assistant_messages',
];

/** What must hold between an organization's answers, whatever its events are. */
function expectToAgree(answers: Record<string, unknown[]>): void {
  const day = {
    tokens: answers.tokens as ReturnType<typeof tokens>,
    tools: answers.tools as ReturnType<typeof tools>,
    activity: answers.activity as ReturnType<typeof activity>,
    productivity: answers.productivity as { date: string }[],
  };
  const people = answers.users as ReturnType<typeof users>;
  expectSums(day.tokens, answers['tokens by model'] as ReturnType<typeof tokensByModel>, TOKENS, 'by model');
  expectSums(
    day.tools,
    answers['tools by tool_name'] as ReturnType<typeof toolsByToolName>,
    ['tool_calls'],
    'by tool',
  );
  const byAgent = answers['users by agent'] as ReturnType<typeof usersByAgent>;
  expectSums(day.tokens, answers['tokens by agent'] as ReturnType<typeof tokensByAgent>, TOKENS, 'by agent');
  expectSums(
    day.activity,
    answers['activity by agent'] as ReturnType<typeof activityByAgent>,
    ['sessions', 'messages', 'user_messages'],
    'by agent',
  );
  const ofUserDay = <T extends { user_id: string; date: string }>(rows: readonly T[]) =>
    rows.map((row) => ({ ...row, date: `${row.date} of ${row.user_id}` }));
  expectSums(ofUserDay(people), ofUserDay(byAgent), COUNTS_OF_USERS, 'by agent');
  expectSums(day.tokens, people, ['billable_tokens'], 'users');
  expectSums(day.tools, people, ['tool_calls'], 'users');
  expectSums(day.activity, people, ['sessions', 'messages', 'user_messages'], 'users');
  expectSums(
    day.productivity,
    people,
    ['files_created', 'files_edited', 'git_commits', 'git_prs_created'],
    'users',
  );
  for (const row of day.tokens) {
    for (const list of [row.by_model, row.by_user, row.by_user.flatMap((user) => user.by_model)])
      expect(sum(list.map(({ billable_tokens }) => billable_tokens)), row.date).toBe(row.billable_tokens);
  }
  for (const row of day.tools) {
    expect(sum(row.by_tool.map(({ invocations }) => invocations)), row.date).toBe(row.tool_calls);
    expect(sum(row.skills_by_name.map(({ count }) => count)), row.date).toBe(row.skills_invocations);
    expect(sum(row.slash_commands_by_name.map(({ count }) => count)), row.date).toBe(
      row.slash_commands_invocations,
    );
    expect(sum(row.hooks_by_event.map(({ count }) => count)), row.date).toBe(row.hooks_invocations);
    expect([0, 1]).toContain(Number(sum(Object.values(row.tool_autonomy_level_ratio)).toFixed(12)));
  }
  const clients = answers['activity by client'] as ReturnType<typeof activityByClient>;
  for (const row of day.activity) {
    expect(row.daily_active_users, row.date).toBeLessThanOrEqual(row.weekly_active_users);
    expect(row.weekly_active_users, row.date).toBeLessThanOrEqual(row.monthly_active_users);
    expect(row.daily_active_users).toBe(people.filter(({ date }) => date === row.date).length);
    for (const { group_key, daily_active_users } of clients.filter(({ date }) => date === row.date)) {
      expect(row.daily_active_users_by_client[group_key]).toBe(daily_active_users);
      expect(daily_active_users).toBeLessThanOrEqual(row.daily_active_users);
    }
  }
}

/** The same events with the servers of MCP calls in other letters; ids of their own, as the letters decide which copy stands. */
function inOtherCase(events: readonly SentEvent[], change: (server: string) => string): SentEvent[] {
  return events.map((event) => {
    const { mcp_server, tool_name } = event;
    const [, before, server, after] =
      /^(\s*mcp__)(.+?)(__.+)$/s.exec(String(tool_name)) ??
      /^(\s*)([A-Za-z].*?)(___.+)$/s.exec(String(tool_name)) ??
      [];
    return {
      ...event,
      ...(typeof mcp_server === 'string' ? { mcp_server: change(mcp_server) } : {}),
      ...(server !== undefined ? { tool_name: `${before}${change(server)}${after}` } : {}),
    };
  });
}

/** A fault that a check throws, as a law has it. */
function faultOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Asks about several organizations at a time: reading waits for nobody. */
async function eachOf(
  ids: readonly string[],
  ask: (orgId: string, index: number) => Promise<string | undefined>,
): Promise<(string | undefined)[]> {
  const faults: (string | undefined)[] = [];
  for (let start = 0; start < ids.length; start += 4)
    faults.push(
      ...(await Promise.all(ids.slice(start, start + 4).map((orgId, index) => ask(orgId, start + index)))),
    );
  return faults;
}

describe.each(STORES)('laws of the numbers, $name', ({ open }) => {
  async function worldOfLaws(): Promise<World> {
    const world = await open(RATE_CARD, onTestFinished, PRICE_LIST);
    world.now = NOW;
    return world;
  }

  // Of a few organizations of several users also parts of the answers: pages hold each user once, a range has its days alone.
  test('all answers are those of the second computation, agree with each other, and come in parts', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const world = await worldOfLaws();
    await hold(
      fc.oneof({ weight: 4, arbitrary: organization }, { weight: 1, arbitrary: movingUsers }),
      ORGANIZATIONS,
      async (organizations) => {
        const ids = await sendAll(world, organizations);
        await buildAtOnce(world);
        const ofSeveral = [...organizations.keys()].filter(
          (index) => new Set(organizations[index]?.map(({ user_id }) => user_id)).size > 2,
        );
        const inParts = new Set(ofSeveral.slice(0, Math.ceil(ORGANIZATIONS / 12)));
        return eachOf(ids, async (orgId, index) => {
          const events = organizations[index] ?? [];
          const answers = await answersOf(world, orgId);
          let fault =
            difference(answers, oracle(events, CIRCUMSTANCES)) ?? faultOf(() => expectToAgree(answers));
          if (inParts.has(index))
            fault ??= (await pagesFault(world, orgId)) ?? (await rangesFault(world, orgId, events));
          return fault;
        });
      },
    );
  });

  test('the letter case of MCP servers changes nothing', { timeout: TIMEOUT_MS }, async () => {
    const world = await worldOfLaws();
    const calls = organization
      .map((events) => events.map((event, index) => ({ ...event, event_id: `e${index}` })))
      .filter((events) => events.some(({ type }) => type === 'tool_call'));
    await hold(calls, Math.ceil(ORGANIZATIONS / 12), async (organizations) => {
      const ids = await sendAll(world, organizations);
      const upper = await sendAll(
        world,
        organizations.map((events) => inOtherCase(events, (server) => server.toUpperCase())),
      );
      const lower = await sendAll(
        world,
        organizations.map((events) => inOtherCase(events, (server) => server.toLowerCase())),
      );
      await buildAtOnce(world);
      const faults: (string | undefined)[] = [];
      for (const [index, orgId] of ids.entries()) {
        const answers = await answersOf(world, orgId);
        faults.push(
          difference(await answersOf(world, upper[index] ?? ''), answers) ??
            difference(await answersOf(world, lower[index] ?? ''), answers),
        );
      }
      return faults;
    });
  });
});

test('what is generated is what the seed says, and can be found again alone', async () => {
  const all = fc.sample(organization, { seed: 3, numRuns: 5 });
  const found: SentEvent[][] = [];
  await fc.assert(
    fc.property(organization, (events) => {
      found.push(events);
    }),
    { seed: 3, path: '3', numRuns: 1 },
  );
  expect(found[0]).toEqual(all[3]);
});
