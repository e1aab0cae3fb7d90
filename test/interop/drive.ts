/** Drives an agent through the scenario, in folders of its own, and says what came of it. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Agent, Place, Run } from './agent.js';
import { CLI, type Numbers } from './daybook.js';
import { NOTES, SCENARIO, STEPS } from './scenario.js';
import { type Stub, startStub, type Usage } from './stub.js';

/** The longest that an agent may take for a prompt. */
const PATIENCE_MS = 180_000;

export interface Driven {
  /** What the stub served and the repository has. */
  readonly truth: Numbers;
  /** Why the session isn't what the scenario says. */
  readonly faults: readonly string[];
  /** The folder of the agent's files. */
  readonly logs: string;
}

/** Where an agent sends OTLP, with a key, and where "daybook run" sends its runs. */
export interface Receivers {
  readonly otlpUrl: string;
  readonly key: string;
  readonly runs: { readonly DAYBOOK_URL: string; readonly DAYBOOK_KEY: string };
}

/** Plays the scenario; answers why the agent doesn't run here, if so. */
export async function drive(
  agent: Agent,
  installed: string,
  folder: string,
  { otlpUrl, key, runs }: Receivers,
): Promise<Driven | string> {
  const repo = join(folder, 'greeter');
  mkdirSync(repo);
  const stub = await startStub(agent.api, (step) => agent.callOf(step, repo));
  const place = makePlace(agent, { home: join(folder, 'home'), repo, modelUrl: stub.url, otlpUrl });
  const faults: string[] = [];
  try {
    const [program = ''] = agent.run('', false, installed, place).command;
    const refusal = await runAgent({ command: [program, '--version'], environment: {} }, place, key);
    if (refusal !== undefined) return `it doesn't run here (${refusal})`;
    for (const [index, { prompt, answers }] of SCENARIO.entries()) {
      stub.play(answers);
      const fault = await runAgent(agent.run(prompt, index > 0, installed, place), place, key, runs);
      faults.push(...(fault === undefined ? [] : [fault]), ...stub.faults());
      // The rest would only follow from it.
      if (faults.length > 0) break;
    }
  } finally {
    stub.stop();
  }
  const logs = join(place.home, agent.logs);
  if (faults.length > 0) return { truth: {}, faults, logs };
  return { truth: truthOf(agent, stub, place), faults: faultsOf(place), logs };
}

/** Writes an agent's settings, and begins the repository. */
function makePlace(agent: Agent, place: Place): Place {
  for (const [path, content] of Object.entries(agent.settings(place))) {
    mkdirSync(dirname(join(place.home, path)), { recursive: true });
    writeFileSync(join(place.home, path), content);
  }
  writeFileSync(join(place.repo, NOTES.path), NOTES.content);
  runGit(place, ['init', '-q', '-b', 'main']);
  // Gemini CLI and Qwen Code hide the person's own settings of git from the commands that they run.
  runGit(place, ['config', 'user.name', 'Ada']);
  runGit(place, ['config', 'user.email', 'ada@example.com']);
  runGit(place, ['add', '-A']);
  runGit(place, ['commit', '-qm', 'Begin']);
  return place;
}

function runGit({ home, repo }: Place, args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd: repo,
    env: { PATH: process.env.PATH, HOME: home },
    encoding: 'utf8',
  });
}

/** Runs an agent to its end, by "daybook run" if it is said where to send the run; answers what went wrong. */
async function runAgent(
  run: Run,
  place: Place,
  key: string,
  runs?: Receivers['runs'],
): Promise<string | undefined> {
  const [path = ''] = run.command;
  const [program = '', ...args] = [
    ...(runs === undefined ? [] : [process.execPath, CLI, 'run', '--user', 'ada', '--']),
    ...(/\.c?js$/.test(path) ? [process.execPath] : []),
    ...run.command,
  ];
  const child = spawn(program, args, {
    cwd: place.repo,
    env: {
      PATH: process.env.PATH,
      HOME: place.home,
      LANG: 'C.UTF-8',
      OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer ${key}`,
      OTEL_RESOURCE_ATTRIBUTES: 'daybook.user_id=ada',
      // Nothing leaves the machine: no proxy listens there.
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1,localhost',
      ...runs,
      ...run.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE_MS,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
    });
  }
  const [code, signal] = await once(child, 'close').catch((error: Error) => [error.message, null]);
  return code === 0 ? undefined : `it ended with ${code ?? signal}: ${said.trim().slice(-500)}`;
}

/** What the agent didn't do in its repository. */
function faultsOf(place: Place): string[] {
  const commits = runGit(place, ['rev-list', '--count', 'HEAD']).trim();
  const changed = runGit(place, ['diff', '--name-only', 'HEAD~1']).trim().split('\n').sort().join(', ');
  return commits === '2' && changed === 'greet.py, notes.txt'
    ? []
    : [`its repository has ${commits} commits, and the last changes ${changed}`];
}

function truthOf(agent: Agent, { served }: Stub, place: Place): Numbers {
  const answers = [...served.main, ...served.auxiliary];
  const sum = (count: (usage: Usage) => number) =>
    String(answers.reduce((total, { usage }) => total + count(usage), 0));
  const steps = STEPS.filter((step) => step.kind !== 'say');
  const paths = (kind: 'create' | 'edit') =>
    steps.flatMap((step) => (step.kind === kind ? [join(place.repo, step.path)] : [])).join(', ');
  const tools = new Map<string, number>();
  for (const step of steps) {
    const isFailing = step.kind === 'shell' && step.exitCode !== 0;
    const what = `${agent.callOf(step, place.repo).tool} ${isFailing ? 'failed' : 'succeeded'}`;
    tools.set(what, (tools.get(what) ?? 0) + 1);
  }
  return {
    sessions: '1',
    users: 'ada',
    turns: String(SCENARIO.length),
    'model calls': String(answers.length),
    'input tokens': sum(({ input, cached }) => input - cached),
    'cache reads': sum(({ cached }) => cached),
    'cache writes': '0',
    'output tokens': sum(({ output, reasoning }) => output + reasoning),
    ...Object.fromEntries([...tools].map(([what, calls]) => [what, String(calls)])),
    'files created': paths('create'),
    'files edited': paths('edit'),
    commits: runGit(place, ['log', '-1', '--format=%h', '--abbrev=7']).trim(),
  };
}
