import { Random } from './random.js';

const MS_PER_DAY = 86_400_000;
const MS_PER_HOUR = 3_600_000;

/**
 * What happens in a company besides its everyday work. A story begins so many days before the last day (`since`), and one that is left out
 * doesn't happen. People are meant by their place in `Company.people`.
 */
export interface Stories {
  /** A team moves to another model. */
  readonly dearerModel?: { readonly team: string; readonly model: string; readonly since: number };
  /** Half of a person's calls fail, and commits stop. */
  readonly stuck?: { readonly person: number; readonly since: number };
  /** An MCP server is used by few, and then by more each week. */
  readonly spreads?: { readonly server: string; readonly since: number };
  /** Most calls of an MCP server fail. */
  readonly fails?: { readonly server: string; readonly since: number };
  /** A laptop sends nothing any more. */
  readonly silent?: { readonly person: number; readonly since: number };
  /** The first events of a team come later than those of the others. */
  readonly begins?: { readonly team: string; readonly since: number };
  /** People of a team let agents do more by themselves. */
  readonly bolder?: { readonly team: string; readonly since: number };
}

export const STORIES: Stories = {
  dearerModel: { team: 'payments', model: 'claude-opus-5', since: 24 },
  stuck: { person: 41, since: 17 },
  spreads: { server: 'jira', since: 40 },
  fails: { server: 'figma', since: 10 },
  silent: { person: 87, since: 15 },
  begins: { team: 'support-tools', since: 38 },
  bolder: { team: 'platform', since: 45 },
};

export interface CompanyOptions {
  readonly seed?: number;
  readonly people?: number;
  readonly days?: number;
  /** `YYYY-MM-DD`. */
  readonly lastDay?: string;
  readonly stories?: Stories;
}

/** What a person belongs to from one day to another; null where no end is known. */
export interface Belonging {
  readonly team: string;
  readonly costCenter: string;
  readonly from: string | null;
  readonly to: string | null;
}

export interface Colleague {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  /** Other names under which this person's events come. */
  readonly aliases: readonly string[];
  readonly belongings: readonly Belonging[];
}

/** An event as a collector sends it. */
export interface CompanyEvent {
  readonly event_id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly user_id: string;
  readonly session_id: string;
  readonly [member: string]: string | number | boolean;
}

/** A company: who works there, and what its collectors send. */
export interface Company {
  readonly people: readonly Colleague[];
  /** The users of events who are nobody's. */
  readonly machines: readonly string[];
  /** `YYYY-MM-DD`, in order. */
  readonly days: readonly string[];
  /** The events that happen to work begun on a day, each once. A session can go on after midnight. */
  readonly eventsOf: (day: string) => CompanyEvent[];
}

export const TEAMS = [
  ...['payments', 'web', 'platform', 'mobile', 'data', 'ml'],
  ...['search', 'infra', 'security', 'docs', 'growth', 'support-tools'],
] as const;
const COST_CENTERS = ['4100', '4110', '4120', '4130', '4140', '4150', '4160', '4170', '4180'];
const FIRST = [
  ...['amber', 'ashen', 'brisk', 'cobalt', 'copper', 'dusty', 'early', 'fallow', 'gentle'],
  ...['hazel', 'indigo', 'lunar', 'misty', 'noble', 'polar', 'quiet', 'rapid', 'silver', 'sunny', 'umber'],
];
const SECOND = [
  ...['crane', 'dipper', 'finch', 'gull', 'heron', 'ibis', 'kestrel', 'lynx', 'marten', 'otter', 'plover'],
  ...['stoat', 'tern', 'wren'],
];
const SERVERS = ['github', 'playwright', 'postgres', 'figma', 'jira'];
const TOOLS = ['Read', 'Read', 'Read', 'Bash', 'Bash', 'Edit', 'Edit', 'Edit', 'Grep', 'Write', 'WebFetch'];
const EXTENSIONS = ['.go', '.ts', '.ts', '.py', '.sql', '.md', '.yaml'];
const SKILLS = ['pr-description', 'schema-migration', 'incident-review'];
const MODES = ['manual', 'auto-low', 'auto-medium', 'auto-high'];

/** The agents with their shares, their models, and what sends their events: a collector that reads logs, or telemetry that names an address. */
const AGENTS = [
  {
    agent: 'claude-code',
    share: 6,
    channel: 'log',
    models: ['claude-sonnet-5', 'claude-haiku-4-5', 'claude-sonnet-5'],
  },
  { agent: 'codex', share: 3, channel: 'otlp_log', models: ['gpt-5'] },
  { agent: 'gemini-cli', share: 1, channel: 'log', models: ['gemini-2.5-pro'] },
  { agent: 'qwen-code', share: 1, channel: 'log', models: ['inhouse-coder'] },
] as const;

/** What a person's work is like. */
interface Habits {
  /** Names that collectors of this person send, the usual one first. */
  readonly sentAs: readonly string[];
  readonly drive: number;
  readonly agents: readonly (typeof AGENTS)[number][];
  readonly repos: readonly string[];
  readonly servers: readonly string[];
  readonly modes: readonly string[];
}

function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * MS_PER_DAY).toISOString().slice(0, 10);
}

/** The same company for the same options. */
export function generateCompany({
  seed = 1,
  people: count = 250,
  days: dayCount = 60,
  lastDay = '2026-06-30',
  stories = STORIES,
}: CompanyOptions = {}): Company {
  const firstDay = dayAfter(lastDay, 1 - dayCount);
  const days = Array.from({ length: dayCount }, (_, index) => dayAfter(firstDay, index));
  const random = new Random(seed);
  const people = Array.from({ length: count }, (_, place) => colleagueOf(place, days, random));
  const habits = people.map((person, place) => habitsOf(person, place, random));
  const machines = ['ci-runner', 'nightly-refactor'];
  const eventsOf = (day: string) => {
    const own = new Random(seed * 1_000_003 + Date.parse(day) / MS_PER_DAY);
    const work = new Work(own, day, (Date.parse(lastDay) - Date.parse(day)) / MS_PER_DAY, stories);
    for (const [place, person] of people.entries()) work.do(place, person, habits[place] as Habits);
    for (const machine of machines) work.run(machine);
    return work.events;
  };
  return { people, machines, days, eventsOf };
}

/** Most people stay in their team. Some move in the middle of the days, and contractors are there for a part of them. */
function colleagueOf(place: number, days: readonly string[], random: Random): Colleague {
  const own = place === 1 ? 0 : place;
  const first = FIRST[own % FIRST.length] ?? '';
  const second = SECOND[Math.floor(own / FIRST.length) % SECOND.length] ?? '';
  // The first two people have one name.
  const suffix = place === 1 ? '-2' : place < FIRST.length * SECOND.length ? '' : `-${place}`;
  const userId = `${first}-${second}${suffix}`;
  const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);
  const email = `${first}.${second}${suffix}@acme.example`;
  const aliases = [
    // The `sub` of the identity provider, a laptop that another collector runs on, the login in another spelling.
    ...(place % 5 === 2 ? [`00u${random.hex(12)}`] : []),
    ...(place % 7 === 3 ? [`${userId}-laptop`] : []),
    ...(place % 11 === 4 ? [`${capital(first)}-${capital(second)}${suffix}`] : []),
  ];
  const team = TEAMS[place % TEAMS.length] ?? '';
  const costCenter =
    place % 17 === 0 ? '4190' : (COST_CENTERS[(place % TEAMS.length) % COST_CENTERS.length] ?? '');
  const at = (share: number) => days[Math.floor(days.length * share)] ?? '';
  const belongings: Belonging[] = [];
  if (place % 23 === 9) belongings.push({ team, costCenter, from: at(0.2), to: at(0.7) });
  else if (place % 19 === 5) {
    const until = at(0.3 + random.next() * 0.4);
    const next = TEAMS[(place + 5) % TEAMS.length] ?? '';
    belongings.push({ team, costCenter, from: null, to: until });
    belongings.push({
      team: next,
      costCenter: random.pick(COST_CENTERS),
      from: dayAfter(until, 1),
      to: null,
    });
  } else belongings.push({ team, costCenter, from: null, to: null });
  return { userId, name: `${capital(first)} ${capital(second)}`, email, aliases, belongings };
}

function habitsOf({ userId, aliases, belongings }: Colleague, place: number, random: Random): Habits {
  const weighed = AGENTS.flatMap((agent) => Array.from({ length: agent.share }, () => agent));
  const [main, other] = [random.pick(weighed), random.pick(weighed)];
  const team = belongings[0]?.team ?? '';
  return {
    sentAs: [userId, userId, ...aliases],
    drive: 0.2 + random.next() ** 3 * 1.6,
    agents: [main, main, main, other],
    repos: [`acme/${team}`, `acme/${team}`, 'acme/monorepo'],
    servers: SERVERS.slice(0, 4).filter((_, server) => (place + server) % 3 === 0),
    modes: [random.pick(MODES), ...MODES],
  };
}

/** The work of one day. */
class Work {
  readonly events: CompanyEvent[] = [];
  private readonly isWeekend: boolean;

  constructor(
    private readonly random: Random,
    private readonly day: string,
    /** How many days before the last one it is. */
    private readonly left: number,
    private readonly stories: Stories,
  ) {
    this.isWeekend = new Date(day).getUTCDay() % 6 === 0;
  }

  /** Whether a story has begun. */
  private isTold<T extends { readonly since: number }>(story: T | undefined): story is T {
    return story !== undefined && this.left < story.since;
  }

  do(place: number, person: Colleague, habits: Habits): void {
    const { random, stories, day } = this;
    const today = person.belongings.find(({ from, to }) => (from ?? day) <= day && day <= (to ?? day));
    // Who left or hasn't begun sends nothing, though a contractor's laptop can send a day's work too many.
    if (today === undefined && random.next() > 0.03) return;
    const team = today?.team ?? '';
    if (this.isTold(stories.silent) && stories.silent.person === place) return;
    if (stories.begins?.team === team && !this.isTold(stories.begins)) return;
    const isStuck = this.isTold(stories.stuck) && stories.stuck.person === place;
    // Whoever is stuck works each day: a story that hardly any events tell isn't one.
    const zeal = isStuck || stories.stuck?.person === place ? 1.2 : habits.drive;
    if (random.next() > (this.isWeekend ? 0.05 : 0.45 + 0.45 * zeal)) return;
    const sessions = 1 + random.below(1 + Math.ceil(2 * zeal));
    for (let session = 0; session < sessions; session += 1) {
      const { agent, channel, models } = random.pick(habits.agents);
      const hasMoved = this.isTold(stories.dearerModel) && stories.dearerModel.team === team;
      const isBold = this.isTold(stories.bolder) && stories.bolder.team === team;
      this.session({
        user_id: channel === 'otlp_log' ? person.email : random.pick(habits.sentAs),
        user_email: person.email,
        ...{ agent, channel },
        model: hasMoved && stories.dearerModel ? stories.dearerModel.model : random.pick(models),
        repo: random.pick(habits.repos),
        client: random.pick(['terminal-ui', 'terminal-ui', 'ide']),
        autonomy_mode: isBold ? 'auto-high' : random.pick(habits.modes),
        calls: (2 + zeal * 4) * (isBold ? 2 : 1),
        servers: this.serversOf(place, habits),
        failing: isStuck ? 0.5 : 0.04,
        commits: isStuck ? 0 : 0.35,
        // Few work past midnight, and nobody does on the last day.
        hour: random.next() < 0.02 && this.left > 0 ? 23.7 : 7 + random.next() * 10,
      });
    }
  }

  /** A service runs an agent without a person. */
  run(machine: string): void {
    this.session({
      ...{ user_id: machine, user_email: '', agent: 'claude-code', channel: 'log' },
      ...{
        model: 'claude-haiku-4-5',
        repo: 'acme/monorepo',
        client: 'non-interactive-cli',
        autonomy_mode: 'auto-high',
      },
      ...{ calls: 4, servers: [], failing: 0.02, commits: 1, hour: 2 },
    });
  }

  private serversOf(place: number, { servers }: Habits): readonly string[] {
    const { spreads } = this.stories;
    if (spreads === undefined) return servers;
    const age = Math.max(0, spreads.since - this.left);
    // Each person begins on a day of their own: at first 2 of 100, in the end half of them.
    const turn = (place * 37) % 100;
    const uses = turn < 2 + (48 * Math.min(age, spreads.since)) / spreads.since;
    return uses ? [...servers, spreads.server] : servers;
  }

  private session(of: {
    readonly user_id: string;
    readonly user_email: string;
    readonly agent: string;
    readonly channel: string;
    readonly model: string;
    readonly repo: string;
    readonly client: string;
    readonly autonomy_mode: string;
    /** Calls of tools in a turn. */
    readonly calls: number;
    readonly servers: readonly string[];
    readonly failing: number;
    readonly commits: number;
    readonly hour: number;
  }): void {
    const { random, stories } = this;
    const { model, calls, servers, failing, commits, hour, user_email, ...names } = of;
    const session_id = random.uuid();
    let at = Date.parse(this.day) + hour * MS_PER_HOUR;
    const repo = `https://github.com/${of.repo}`;
    const shared = {
      ...names,
      ...(user_email === '' ? {} : { user_email }),
      session_id,
      repo,
      git_branch: 'main',
    };
    const add = (type: string, more: Readonly<Record<string, string | number | boolean>> = {}) => {
      at += 3_000 + random.below(40_000);
      const timestamp = new Date(at).toISOString();
      this.events.push({ event_id: random.uuid(), type, timestamp, ...shared, ...more });
    };
    add('session_start');
    const turns = 1 + random.below(5);
    for (let turn = 0; turn < turns; turn += 1) {
      add('user_message');
      const cache_write_tokens = of.agent === 'claude-code' ? random.below(40_000) : 0;
      add('model_usage', {
        ...{ model, request_id: `req_${random.hex(16)}` },
        ...{ input_tokens: 500 + random.below(6_000), output_tokens: 300 + random.below(5_000) },
        // Some prompts are so long that they have another price.
        cache_read_tokens: random.below(random.next() < 0.1 ? 400_000 : 90_000),
        ...(cache_write_tokens === 0
          ? {}
          : { cache_write_tokens, cache_write_1h_tokens: random.below(cache_write_tokens) }),
      });
      for (let call = random.below(Math.ceil(calls)); call >= 0; call -= 1) {
        const server = servers.length > 0 && random.next() < 0.2 ? random.pick(servers) : undefined;
        const tool = random.pick(TOOLS);
        const isFailing =
          server !== undefined && this.isTold(stories.fails) && stories.fails.server === server;
        add('tool_call', {
          tool_name:
            server === undefined ? tool : `mcp__${server}__${random.pick(['search', 'get', 'create'])}`,
          success: random.next() >= (isFailing ? 0.7 : failing),
          duration_ms: random.below(9_000),
        });
        if (server === undefined && (tool === 'Edit' || tool === 'Write'))
          add('file_change', {
            path: `src/part${random.below(12)}${random.pick(EXTENSIONS)}`,
            operation: tool === 'Write' ? 'create' : 'edit',
            ...{ lines_added: random.below(60), lines_removed: random.below(30) },
          });
      }
      add('assistant_message');
    }
    if (random.next() < commits) add('git_commit', { commit_sha: random.hex(40) });
    if (random.next() < commits / 3) add('pull_request', { url: `${repo}/pull/${random.below(1_000_000)}` });
    if (random.next() < 0.1) add('skill_use', { skill_name: random.pick(SKILLS) });
    if (random.next() < 0.1)
      add('slash_command', { command_name: random.pick(['compact', 'review', 'model']) });
    add('session_end');
  }
}

/** The lines of a file for `daybook people import`. */
export function peopleCsv(people: readonly Colleague[]): string {
  const lines = people.flatMap(({ userId, name, email, aliases, belongings }) =>
    belongings.map(({ team, costCenter, from, to }) =>
      [userId, name, email, aliases.join(';'), team, costCenter, from ?? '', to ?? ''].join(','),
    ),
  );
  return `${['user_id,name,email,alias,team,cost_center,from,to', ...lines].join('\n')}\n`;
}
