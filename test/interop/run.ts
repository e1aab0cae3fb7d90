/** Runs real agents against a stub of their model, and compares what Daybook counts with what the stub served. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Agent, type Untold, WAYS, type Way } from './agent.js';
import { CLAUDE_CODE } from './agents/claude-code.js';
import { CODEX } from './agents/codex.js';
import { GEMINI_CLI } from './agents/gemini-cli.js';
import { OPENCODE } from './agents/opencode.js';
import { QWEN_CODE } from './agents/qwen-code.js';
import { compare } from './comparison.js';
import { Daybook, type Numbers } from './daybook.js';
import { drive } from './drive.js';
import { EXPORTERS, FORMS, type Form, REPORTED, report } from './exporters.js';
import { install } from './packages.js';
import { startRelay } from './relay.js';
import { WORDS } from './scenario.js';

const AGENTS: readonly Agent[] = [CLAUDE_CODE, CODEX, GEMINI_CLI, OPENCODE, QWEN_CODE];

/** What has come to Daybook. */
interface Played {
  readonly name: string;
  readonly untold: readonly Untold[];
  readonly truth: Numbers;
  readonly ways: readonly Way[];
  readonly faults: readonly string[];
}

const say = (text: string) => process.stdout.write(`${text}\n`);

/** Whether the files stay, and the agents that the command names: without any, all. */
const isKept = process.argv.includes('--keep');
const wanted = process.argv.slice(2).filter((word) => word !== '--keep');
const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name);
const names = [...AGENTS.map(({ name }) => name), 'exporters'];
const unknown = wanted.find((name) => !names.includes(name));
if (unknown !== undefined) {
  say(`${unknown} is none of those that can run: ${names.join(', ')}.`);
  process.exit(2);
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'daybook-interop-')));
const daybook = await Daybook.start(join(folder, 'data'));
const played: Played[] = [];
for (const agent of AGENTS) {
  if (!isWanted(agent.name)) continue;
  const installed = await installedFor(agent.name, agent.node, agent.packages);
  if (installed !== undefined) played.push(...(await play(agent, installed)));
}
if (isWanted('exporters')) {
  const installed = await installedFor('exporters', 20, EXPORTERS);
  if (installed !== undefined) for (const form of FORMS) played.push(await playExporters(form, installed));
}
await daybook.stop();
await daybook.build();
const numbers = await daybook.numbers();
const { table, unexplained } = compare(
  played.map(({ name, untold, truth, ways }) => {
    const counted = new Map(ways.map((way) => [way, numbers.get(orgOf(name, way)) ?? {}]));
    return { name, untold, truth, counted };
  }),
);
say(table);
const events = await daybook.events();
const faults = [
  ...played.flatMap(({ name, faults }) => faults.map((fault) => `${name}: ${fault}`)),
  ...WORDS.filter((words) => events.includes(JSON.stringify(words).slice(1, -1))).map(
    (words) => `Daybook keeps words of the session: ${words}`,
  ),
];
for (const fault of faults) say(fault);
if (unexplained > 0) say(`${unexplained} numbers, marked with !, differ without an explanation.`);
if (isKept) say(`The files are in ${folder}.`);
else rmSync(folder, { recursive: true, force: true });
process.exitCode = unexplained > 0 || faults.length > 0 ? 1 : 0;

/** The folder of packages; undefined, with a sentence: they can't be installed or don't run here. */
async function installedFor(
  name: string,
  node: number,
  packages: readonly string[],
): Promise<string | undefined> {
  if (Number(process.versions.node.split('.')[0]) < node) {
    say(`${name}: skipped, since it needs Node.js ${node} and this is ${process.versions.node}.`);
    return undefined;
  }
  try {
    return await install(packages);
  } catch (error) {
    say(`${name}: skipped, since npm can't install it (${error instanceof Error ? error.message : error}).`);
    return undefined;
  }
}

/** The organization that data comes to by a way. */
function orgOf(name: string, way: Way): string {
  return `${name}-${way.toLowerCase().replace(', ', '-')}`;
}

/** Drives an agent, and brings its data in by every way. Nothing, with a sentence: it doesn't run here. */
async function play(agent: Agent, installed: string): Promise<Played[]> {
  const { name, untold } = agent;
  const keys = new Map<Way, string>();
  for (const way of WAYS) keys.set(way, await daybook.key(orgOf(name, way)));
  const keyOf = (way: Way) => keys.get(way) ?? '';
  const work = join(folder, name);
  mkdirSync(work);
  const relay = await startRelay(daybook.url, work);
  const driven = await drive(agent, installed, work, {
    otlpUrl: `${relay.url}/otlp`,
    key: keyOf('OTLP'),
    runs: { DAYBOOK_URL: daybook.url, DAYBOOK_KEY: keyOf('run') },
  });
  if (typeof driven === 'string') {
    say(`${name}: skipped, since ${driven}.`);
    relay.stop();
    return [];
  }
  const { truth, faults, logs } = driven;
  const ingest = (way: Way) => daybook.ingest(orgOf(name, way), name, logs);
  const rejected = await ingest('logs');
  await ingest('logs, OTLP');
  await relay.replay(keyOf('logs, OTLP'));
  await relay.replay(keyOf('OTLP, logs'));
  await ingest('OTLP, logs');
  relay.stop();
  say(`${name}: has sent ${relay.came().join(', ')}.`);
  return [{ name, untold, truth, ways: WAYS, faults: [...faults, ...rejected, ...relay.faults()] }];
}

async function playExporters(form: Form, installed: string): Promise<Played> {
  const name = `exporters-${form.name}`;
  const key = await daybook.key(orgOf(name, 'OTLP'));
  const faults = await report(installed, form, `${daybook.url}/otlp`, key);
  return { name, untold: [], truth: REPORTED, ways: ['OTLP'], faults };
}
