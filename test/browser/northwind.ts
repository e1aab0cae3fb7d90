import { randomOf } from '../random.js';

const DAY_MS = 86_400_000;
const FIRST = ['amber', 'brisk', 'copper', 'dusty', 'hazel', 'misty', 'polar', 'rapid', 'sunny', 'umber'];
const SECOND = ['finch', 'heron', 'lynx', 'marten', 'otter', 'wren'];
const REPOSITORIES = ['web-app', 'payments', 'platform', 'mobile', 'docs', 'data-pipelines'];
const MODELS: readonly (readonly [string, string, number])[] = [
  ['claude-code', 'claude-opus-4-5', 8],
  ['claude-code', 'claude-sonnet-4-5', 9],
  ['codex', 'gpt-5', 4],
  ['claude-code', 'claude-haiku-4-5', 3],
  ['gemini-cli', 'gemini-2.5-pro', 2],
  ['qwen-code', 'qwen3-coder-next', 1],
];
const TOOLS: readonly (readonly [string, number])[] = [
  ['Read', 30],
  ['Bash', 27],
  ['Edit', 25],
  ['Grep', 12],
  ['Glob', 6],
  ['Write', 6],
  ['mcp__github__search_code', 5],
  ['mcp__playwright__click', 3],
  ['mcp__linear__list_issues', 3],
  ['mcp__postgres__query', 1],
];
const SKILLS = ['pr-description', 'schema-migration', 'design-tokens', 'incident-review'];
const EXTENSIONS = ['.go', '.ts', '.go', '.ts', '.md', '.yaml', '.sql', '.py'];
const MODES = ['manual', 'auto-low', 'auto-medium', 'auto-medium', 'auto-high', 'auto-high'];

interface NorthwindEvent {
  readonly event_id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly user_id: string;
  readonly session_id: string;
}

/** Events of an invented organization of 60 people, who work on weekdays and use agents a little more each week. */
export function northwind(lastDay: string, { people = 60, days = 75, seed = 7 } = {}): NorthwindEvent[] {
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() ** 1.6 * list.length)] as T;
  const weighed = <T extends readonly [...unknown[], number]>(list: readonly T[]): T => {
    let at = random() * list.reduce((sum, entry) => sum + (entry.at(-1) as number), 0);
    for (const entry of list) {
      at -= entry.at(-1) as number;
      if (at < 0) return entry;
    }
    return list[0] as T;
  };
  const zeal = Array.from({ length: people }, () => 0.25 + random() ** 3 * 2.2);
  const events: NorthwindEvent[] = [];
  const start = Date.parse(lastDay) - (days - 1) * DAY_MS;
  for (let day = 0; day < days; day += 1) {
    const midnight = start + day * DAY_MS;
    const isWeekend = new Date(midnight).getUTCDay() % 6 === 0;
    for (let person = 0; person < people; person += 1) {
      const drive = (zeal[person] ?? 1) * (0.6 + (0.7 * day) / days) * (isWeekend ? 0.08 : 1);
      if (random() > 0.55 * drive + (isWeekend ? 0 : 0.1)) continue;
      const user_id = `${FIRST[person % 10]}-${SECOND[Math.floor(person / 10) % 6]}${person < 60 ? '' : `-${person}`}`;
      const sessions = 1 + Math.floor(random() * 2 * drive);
      for (let session = 0; session < sessions; session += 1) {
        const [agent, model] = weighed(MODELS);
        const shared = {
          user_id,
          user_email: `${user_id}@northwind.example`,
          session_id: `${user_id}-${day}-${session}`,
          agent,
          repo: `https://github.com/northwind/${pick(REPOSITORIES)}`,
          client: pick(['terminal-ui', 'terminal-ui', 'ide', 'non-interactive-cli']),
          autonomy_mode: pick([...MODES.slice(person % 5), ...MODES]),
        };
        let at = midnight + (7 + Math.floor(random() * 9)) * 3_600_000 + Math.floor(random() * 3_600_000);
        const add = (type: string, more: object = {}) => {
          at += 5_000 + Math.floor(random() * 60_000);
          events.push({
            event_id: `nw-${events.length}`,
            type,
            timestamp: new Date(at).toISOString(),
            ...shared,
            ...more,
          });
        };
        add('session_start');
        const turns = 1 + Math.floor(random() * 5);
        for (let turn = 0; turn < turns; turn += 1) {
          add('user_message');
          const calls = Math.floor(random() * 6 * (1 + drive));
          add('model_usage', {
            model,
            input_tokens: Math.floor(2000 + random() * 9000),
            output_tokens: Math.floor(900 + random() * 9000),
            cache_read_tokens: Math.floor(random() * 900_000),
            cache_write_tokens: agent === 'claude-code' ? Math.floor(random() * 60_000) : 0,
          });
          for (let call = 0; call < calls; call += 1) {
            const [tool_name] = weighed(TOOLS);
            add('tool_call', {
              tool_name,
              success: random() > 0.06,
              duration_ms: Math.floor(random() * 4000),
            });
            if (tool_name === 'Edit' || tool_name === 'Write')
              add('file_change', {
                path: `/repo/src/part${Math.floor(random() * 60)}${pick(EXTENSIONS)}`,
                operation: tool_name === 'Write' ? 'create' : 'edit',
              });
          }
          add('assistant_message');
        }
        if (random() < 0.3) add('git_commit', { commit_sha: `${events.length}`.padStart(40, 'a') });
        if (random() < 0.1)
          add('pull_request', { url: `https://github.com/northwind/web-app/pull/${events.length}` });
        if (random() < 0.2) add('skill_use', { skill_name: pick(SKILLS) });
        if (random() < 0.15)
          add('slash_command', { command_name: pick(['compact', 'clear', 'model', 'review']) });
        if (random() < 0.25)
          add('hook_run', { hook_event: pick(['PostToolUse', 'Stop']), command: 'npm run lint' });
      }
    }
  }
  return events;
}
