import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { builtTables } from '../test/built-tables.js';
import { type Network, openNetwork } from '../test/network.js';
import { AgentDatabase, type AgentFile, workOf, writeWhole } from './laptop-homes.js';
import { Random } from './random.js';
import { startServer } from './service.js';

const PEOPLE = ['ada', 'bob', 'cyd', 'dan', 'eve'];
const MEGABYTES = Number(process.env.BENCH_MEGABYTES ?? 200);
const MINUTES = Number(process.env.BENCH_MINUTES ?? 10);
/** How much agents have written before anybody watches. */
const BEFORE = 0.6;
/** Sessions that go on at a time on one laptop. */
const AT_ONCE = 4;
const TICK_MS = 250;

/** A process that is measured as long as it lives (Linux). */
class Measured {
  peak = 0;
  seconds = 0;
  private before = 0;

  read(child: ChildProcess): void {
    try {
      const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      this.peak = Math.max(this.peak, Number(kib) / 1024);
      this.seconds = this.before + (Number(fields[11]) + Number(fields[12])) / 100;
    } catch {
      // It has just ended.
    }
  }

  /** The next process counts as well. */
  next(): void {
    this.before = this.seconds;
  }

  toString(): string {
    return `${this.peak.toFixed(0)} MiB at most, ${this.seconds.toFixed(0)} s of processor time`;
  }
}

/** A laptop whose agents go on working, and whose collector watches. */
class WatchedLaptop {
  readonly home: string;
  readonly measured = new Measured();
  child: ChildProcess | undefined;
  bytes = 0;
  private readonly live: AgentFile[];
  private readonly rows: ReturnType<typeof workOf>['rows'];
  private readonly liveBytes: number;
  private readonly open: { path: string; rest: string[] }[] = [];
  private readonly database: AgentDatabase;
  private written = 0;
  private inserted = 0;

  constructor(
    readonly user: string,
    private readonly root: string,
    folder: string,
    samples: string,
    private readonly network: Network,
    private readonly random: Random,
  ) {
    this.home = join(folder, user);
    mkdirSync(this.home);
    const { files, rows } = workOf(samples, {
      person: PEOPLE.indexOf(user),
      bytes: MEGABYTES * 1e6,
      now: Date.now(),
      random,
    });
    this.bytes = files.reduce((sum, file) => sum + lengthOf(file), 0);
    // Files of one session aren't written one after the other.
    const order = files.map((file) => ({ file, place: random.next() })).sort((a, b) => a.place - b.place);
    let before = 0;
    this.live = [];
    for (const { file } of order) {
      if (before < this.bytes * BEFORE) {
        writeWhole(this.home, file);
        before += lengthOf(file);
      } else this.live.push(file);
    }
    this.liveBytes = this.bytes - before;
    this.database = new AgentDatabase(samples, this.home);
    this.database.add(rows.slice(0, rows.length * BEFORE));
    this.rows = rows.slice(rows.length * BEFORE);
  }

  get environment(): Record<string, string> {
    return { PATH: process.env.PATH ?? '', HOME: this.home, DAYBOOK_LOG_LEVEL: 'warn' };
  }

  watch(key: string): void {
    this.measured.next();
    this.child = spawn('node', [join(this.root, 'dist', 'cli.js'), 'collect', '--watch', '--every', '5'], {
      env: { ...this.environment, DAYBOOK_URL: this.network.url, DAYBOOK_KEY: key },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.child.stdout?.resume();
    const { child } = this;
    process.once('exit', () => child.kill('SIGKILL'));
  }

  /** Lets agents write as much as they have written after this share of the time. */
  work(share: number): void {
    const until = this.liveBytes * share;
    while (this.written < until || (share >= 1 && (this.live.length > 0 || this.open.length > 0))) {
      while (this.open.length < AT_ONCE) {
        const file = this.live.shift();
        if (file === undefined) break;
        this.open.push({
          path: join(this.home, file.path),
          rest: 'text' in file ? this.piecesOf(file.text) : [...file.versions],
        });
        if ('versions' in file) this.written -= lengthOf(file) * (file.versions.length - 1);
      }
      if (this.open.length === 0) break;
      const one = this.random.pick(this.open);
      const piece = one.rest.shift();
      if (piece === undefined) {
        this.open.splice(this.open.indexOf(one), 1);
        continue;
      }
      mkdirSync(dirname(one.path), { recursive: true });
      if (one.path.endsWith('.jsonl')) appendFileSync(one.path, piece);
      else writeFileSync(one.path, piece);
      this.written += piece.length;
    }
    const rows = Math.floor(this.rows.length * share);
    this.database.add(this.rows.slice(this.inserted, rows));
    this.inserted = rows;
  }

  /** Pieces of a text that end anywhere, also inside of a line. */
  private piecesOf(text: string): string[] {
    const pieces: string[] = [];
    for (let at = 0; at < text.length; ) {
      const length = 1 + this.random.below(Math.max(2000, text.length / 6));
      pieces.push(text.slice(at, at + length));
      at += length;
    }
    return pieces.length === 0 ? [''] : pieces;
  }

  end(): void {
    this.database.close();
  }
}

function lengthOf(file: AgentFile): number {
  return 'text' in file ? file.text.length : (file.versions.at(-1)?.length ?? 0);
}

/**
 * Five laptops whose collectors watch while agents write, connections are cut, and the server and a collector are killed. The day
 * tables of the server must be those of an ingest of the same files. SAMPLES names a folder of files of real agents.
 */
export async function laptops(root: string): Promise<void> {
  const samples = process.env.SAMPLES;
  if (samples === undefined)
    throw new Error('Set SAMPLES to a folder of files of agents, as test/samples.ts says.');
  const folder = mkdtempSync(join(tmpdir(), 'daybook-laptops-'));
  const cli = join(root, 'dist', 'cli.js');
  const random = new Random(20260612);
  const data = join(folder, 'data');
  const service = new Measured();
  const serve = () =>
    startServer([cli, '--data', data, 'serve', '--port', '0'], { DAYBOOK_LOG_LEVEL: 'warn' });
  const daybook = (args: readonly string[], environment: Record<string, string> = {}) =>
    execFileSync('node', [cli, ...args], { env: { ...process.env, ...environment }, encoding: 'utf8' });
  // What was started ends with this.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  let server = await serve();
  const networks: Network[] = [];
  const all: WatchedLaptop[] = [];
  const keys = new Map<string, string>();
  for (const user of PEOPLE) {
    const network = await openNetwork();
    network.lead(server.url);
    networks.push(network);
    const [key = ''] = daybook([
      ...['--data', data, 'keys', 'create', '--org', 'acme', '--role', 'member', '--user', user],
    ]).split('\n');
    keys.set(user, key);
    all.push(new WatchedLaptop(user, root, folder, samples, network, random));
  }
  const watch = (laptop: WatchedLaptop) => laptop.watch(keys.get(laptop.user) ?? '');
  const stamp = () => `${((Date.now() - started) / 1000).toFixed(0).padStart(4)} s`;
  let started = Date.now();
  console.log(
    `${folder}: ${all.map(({ user, bytes }) => `${user} ${(bytes / 1e6).toFixed(0)} MB`).join(', ')}`,
  );
  for (const laptop of all) watch(laptop);
  const measure = () => {
    service.read(server.child);
    for (const { child, measured } of all) if (child !== undefined) measured.read(child);
  };
  started = Date.now();
  const deaths = [1 / 3, 2 / 3];
  let cuts = 0;
  let isKilled = false;
  for (let share = 0; share < 1; ) {
    await wait(TICK_MS);
    share = Math.min(1, (Date.now() - started) / (MINUTES * 60_000));
    for (const laptop of all) laptop.work(share);
    measure();
    if (random.below(8) === 0) {
      random.pick(networks).cut();
      cuts += 1;
    }
    if (share >= (deaths[0] ?? 2)) {
      deaths.shift();
      console.log(`${stamp()}: the server is killed`);
      service.next();
      server.child.kill('SIGKILL');
      await wait(5000);
      server = await serve();
      for (const network of networks) network.lead(server.url);
      console.log(`${stamp()}: the server is back`);
    }
    if (!isKilled && share >= 0.5) {
      isKilled = true;
      const [laptop] = all;
      laptop?.child?.kill('SIGKILL');
      console.log(`${stamp()}: the collector of ${laptop?.user} is killed and started again`);
      if (laptop !== undefined) watch(laptop);
    }
  }
  console.log(`${stamp()}: agents are done, after ${cuts} cuts`);
  const done = Date.now();
  for (const laptop of all) laptop.end();
  const waiting = () =>
    all.filter(({ environment }) => {
      const status = JSON.parse(daybook(['collect', 'status', '--json'], environment));
      return status.waiting_events > 0 || status.problem !== null;
    });
  while (Date.now() - done < 30_000 || waiting().length > 0) {
    measure();
    if (Date.now() - done > 15 * 60_000) throw new Error(`${waiting().map(({ user }) => user)} still wait`);
    await wait(2000);
  }
  for (const laptop of all) {
    const { child, environment, measured, user } = laptop;
    if (child === undefined || child.exitCode !== null) throw new Error(`the collector of ${user} has ended`);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    const left = daybook(['collect'], {
      ...environment,
      DAYBOOK_URL: networks[all.indexOf(laptop)]?.url ?? '',
      DAYBOOK_KEY: keys.get(user) ?? '',
    }).trim();
    console.log(`${stamp()}: collector of ${user}: ${measured}; then: ${left}`);
  }
  measure();
  console.log(`${stamp()}: server: ${service}`);
  await server.stop();
  for (const network of networks) network.close();
  const local = join(folder, 'local');
  const agents = new Map<string, number>();
  for (const { user, environment } of all) {
    const args = ['--data', local, 'ingest', '--org', 'acme', '--source', 'all', '--user', user, '--json'];
    for (const { agent, accepted } of JSON.parse(daybook(args, environment)).agents)
      agents.set(agent, (agents.get(agent) ?? 0) + accepted);
  }
  console.log(`${stamp()}: events: ${[...agents].map((one) => one.join(' ')).join(', ')}`);
  for (const one of [data, local]) daybook(['--data', one, 'build']);
  const [collected, ingested] = [await builtTables(data), await builtTables(local)];
  const differ = [
    ...collected.filter((line) => !ingested.includes(line)).map((line) => `collected: ${line}`),
    ...ingested.filter((line) => !collected.includes(line)).map((line) => `ingested:  ${line}`),
  ];
  console.log(
    `${stamp()}: ${ingested.length} day tables, ${differ.length === 0 ? 'all equal' : 'not equal:'}`,
  );
  if (differ.length === 0 && ingested.length > 0) rmSync(folder, { recursive: true, force: true });
  else {
    console.log(differ.sort((a, b) => a.slice(11).localeCompare(b.slice(11))).join('\n'));
    process.exitCode = 1;
  }
}
