import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomFillSync } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from './ask.js';
import { CLI } from './program.js';
import { playsSlow } from './slow.js';
import { temporaryFolder } from './world.js';

const MIB = 2 ** 20;
/** Whether all sizes are sent undisturbed too, and each is disturbed at every step; else the largest is where its bytes move. */
const IS_WHOLE = playsSlow();
const LARGE_MIB = IS_WHOLE ? 300 : 24;
/** What each process may use: a service that does nothing has 190. */
const MEMORY_MIB = 220;

/** A program that is started again after it was killed, and the most memory that it ever had. */
class Process {
  private child: ChildProcess | undefined;
  peakMib = 0;
  starts = 0;

  constructor(
    private readonly args: readonly string[],
    private readonly env: Record<string, string>,
    private readonly ready: RegExp,
  ) {
    onTestFinished(() => void this.child?.kill('SIGKILL'));
  }

  /** Starts it, and answers when it is at work. */
  async start(): Promise<void> {
    const child = spawn('node', [CLI, ...this.args], {
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...this.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    this.starts += 1;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      const hear = (chunk: Buffer) => {
        said += chunk;
        if (this.ready.test(said)) resolve();
      };
      child.stdout?.on('data', hear);
      child.stderr?.on('data', hear);
      child.once('exit', (code) => reject(new Error(`${this.args.join(' ')} ended with ${code}: ${said}`)));
    });
  }

  /** Reads the most memory that the process had in its memory at once. */
  measure(): void {
    if (process.platform !== 'linux' || this.child?.pid === undefined) return;
    try {
      const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8')) ?? [];
      this.peakMib = Math.max(this.peakMib, Number(kib ?? 0) / 1024);
    } catch {
      // It has just ended.
    }
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    this.measure();
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return null;
    child.removeAllListeners('exit');
    const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill(signal);
    return exit;
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }
}

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came.
  readonly body: any;
}

/** One request; status 0 where nobody answers. A file is sent as it is read. */
function ask(
  method: string,
  url: string,
  key: string | undefined,
  body?: object | { path: string },
): Promise<Answer> {
  return new Promise((resolve) => {
    const nobody = () => resolve({ status: 0, body: undefined });
    const isFile = body !== undefined && 'path' in body;
    const asked = request(
      url,
      {
        method,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : isFile ? {} : { 'content-type': 'application/json' }),
          ...(isFile ? { 'content-length': statSync((body as { path: string }).path).size } : {}),
        },
      },
      (answer) =>
        text(answer).then(
          (content) =>
            resolve({
              status: answer.statusCode ?? 0,
              body: content === '' ? undefined : JSON.parse(content),
            }),
          nobody,
        ),
    );
    asked.on('error', nobody);
    if (isFile) pipeline(createReadStream((body as { path: string }).path), asked).catch(nobody);
    else asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Repeats a call until it is answered with this status, as a sender does. */
async function insist(status: number, call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await call();
    if (answer.status === status) return answer;
    // Nobody there, or not now: anything else is for good.
    if (answer.status !== 0 && answer.status !== 503 && answer.status !== 424)
      throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function makeFile(path: string, mib: number): void {
  const file = openSync(path, 'w');
  const part = Buffer.alloc(MIB);
  for (let written = 0; written < mib; written += 1) writeSync(file, randomFillSync(part));
}

test('files of any size reach two computers whole and once, whatever is killed on the way', async () => {
  const folder = temporaryFolder();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const data = join(folder, 'data');
  const env = {
    DAYBOOK_DATA: data,
    DAYBOOK_RATE_LIMIT: '0',
    DAYBOOK_LOG_LEVEL: 'error',
    DAYBOOK_BUILD_AT: 'off',
    // As docs/systemd has it.
    MALLOC_ARENA_MAX: '2',
    NODE_OPTIONS: '--max-semi-space-size=4',
  };
  const made = new Promise<string>((resolve, reject) => {
    const child = spawn(
      'node',
      [CLI, 'keys', 'create', '--org', 'acme', '--role', 'owner', '--user', 'ada', '--json'],
      {
        env: { PATH: process.env.PATH ?? '', ...env },
      },
    );
    text(child.stdout).then((shown) => resolve(JSON.parse(shown).key), reject);
  });
  const key = await made;
  const service = new Process(['serve', '--port', String(port)], env, /Daybook serves/);
  await service.start();

  const files: [string, number][] = [
    ['empty', 0],
    ['one', 1],
    ['large', LARGE_MIB],
  ];
  const source = (name: string) => join(folder, name);
  writeSync(openSync(source('empty'), 'w'), '');
  writeSync(openSync(source('one'), 'w'), 'x');
  makeFile(source('large'), LARGE_MIB);

  const computers = await Promise.all(
    ['left', 'right'].map(async (name) => {
      const { body } = await ask('POST', `${url}/api/v0/computers`, key, { name, remoteUser: 'ada' });
      const workspace = join(folder, name);
      mkdirSync(workspace);
      const agent = new Process(
        ['agent', '--server', url, '--workspace', workspace],
        { DAYBOOK_AGENT_TOKEN: body.agentToken },
        /Connected/,
      );
      await agent.start();
      return { id: body.id as string, workspace, agent };
    }),
  );

  /** Sends one file to one computer, with a kill of service and agent in the middle of every step. */
  const send = async (
    { id, workspace, agent }: (typeof computers)[number],
    name: string,
    isKilled: boolean,
  ) => {
    const path = `${url}/api/v0/computers/${id}/files/${name}`;
    const sizeBytes = statSync(source(name)).size;
    /** Makes a call, and kills and restarts a process once something is seen, or the call is over. */
    const middle = async (call: Promise<Answer>, victim: Process, isSeen: () => boolean) => {
      let isOver = false;
      void call.then(() => {
        isOver = true;
      });
      while (!isOver && !isSeen()) await new Promise((resolve) => setImmediate(resolve));
      await victim.restart();
      await call;
    };
    const isBegun = () => true;
    const isReceived = () => readdirSync(join(data, 'objects', 'incoming')).length > 0;
    const isWritten = () => {
      const there = existsSync(join(workspace, 'in', 'here'))
        ? readdirSync(join(workspace, 'in', 'here'))
        : [];
      return there.some((found) => found.startsWith('.daybook..'));
    };
    const after = (ms: number) => {
      const end = performance.now() + ms;
      return () => performance.now() > end;
    };
    if (isKilled && IS_WHOLE)
      await middle(ask('POST', `${path}/create-upload`, key, { sizeBytes }), service, isBegun);
    const { body: upload } = await insist(200, () =>
      ask('POST', `${path}/create-upload`, key, { sizeBytes }),
    );
    const put = () => ask('PUT', upload.uploadUrl, undefined, { path: source(name) });
    if (isKilled) await middle(put(), service, isReceived);
    await insist(204, put);
    const completion = { transferId: upload.transferId, sessionId: 's', destPath: 'in/here' };
    const complete = () => ask('POST', `${path}/complete-upload`, key, completion);
    if (isKilled) {
      await middle(complete(), agent, isWritten);
      await middle(complete(), service, isWritten);
    }
    if (isKilled && IS_WHOLE)
      for (const [victim, afterMs] of [
        [agent, 300],
        [service, 300],
        [agent, 900],
        [service, 900],
        [agent, 1500],
      ] as const)
        await middle(complete(), victim, after(afterMs));
    const { body } = await insist(200, complete);
    expect(body).toEqual({ transferId: upload.transferId, fileName: name, byteLength: sizeBytes });
    expect((await insist(200, complete)).body).toEqual(body);
    if (isKilled && IS_WHOLE) await service.restart();
    expect((await insist(200, complete)).body).toEqual(body);
    expect(await sha256Of(join(workspace, 'in', 'here', name))).toBe(await sha256Of(source(name)));
  };

  // At once to both, undisturbed, for the memory; then with kills, file by file on both at once.
  if (IS_WHOLE) {
    await Promise.all(computers.flatMap((computer) => files.map(([name]) => send(computer, name, false))));
    for (const { workspace, agent } of computers) {
      agent.measure();
      expect(readdirSync(join(workspace, 'in', 'here')).sort()).toEqual(['empty', 'large', 'one']);
      rmSync(join(workspace, 'in'), { recursive: true });
    }
    service.measure();
  }
  const [left, right] = computers as [(typeof computers)[number], (typeof computers)[number]];
  for (const [name] of files) {
    // The other one has the same to do, and its service falls too.
    await Promise.all([send(left, name, IS_WHOLE || name === 'large'), send(right, name, false)]);
  }
  for (const { workspace, agent } of computers) {
    expect(readdirSync(workspace, { recursive: true }).map(String).sort()).toEqual([
      'in',
      'in/here',
      'in/here/empty',
      'in/here/large',
      'in/here/one',
    ]);
    for (const [name] of files)
      expect(await sha256Of(join(workspace, 'in', 'here', name))).toBe(await sha256Of(source(name)));
    agent.measure();
  }
  expect(service.starts).toBeGreaterThan(IS_WHOLE ? 15 : 2);
  expect(left.agent.starts).toBeGreaterThan(IS_WHOLE ? 9 : 1);
  for (const { agent } of computers) expect(await agent.kill('SIGTERM')).toBe(0);
  expect(await service.kill('SIGTERM')).toBe(0);
  expect(readdirSync(join(data, 'objects'))).toEqual(['incoming']);
  for (const { agent } of computers) expect(agent.peakMib).toBeLessThan(MEMORY_MIB);
  expect(service.peakMib).toBeLessThan(MEMORY_MIB);
});
