import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AGENTS, caseOf, sources, write } from './agent-cases.js';
import { falseServer, type Got, Laptop, SECRET, sessionLines } from './laptop.js';
import { ended, hasTerminal, keyOf, served, startInTerminal, typing } from './program.js';
import { until } from './service.js';
import { temporaryFolder } from './world.js';

/** A line of a shell that plays an agent: it adds the files below a folder to the home. */
const PLAY = 'cp -R "$0"/. "$HOME"/';

/** Instants in files of agents: in text, and in Unix milliseconds. */
const INSTANT = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z|\b1[678]\d{11}\b/g;

function instantOf(text: string): number {
  return text.includes('T') ? Date.parse(text) : Number(text);
}

/** Texts whose instants, in the same order, are in a few seconds from now. */
function ofNow(files: ReadonlyMap<string, string>): Map<string, string> {
  const all = [...files.values()].flatMap((text) => text.match(INSTANT) ?? []).map(instantOf);
  const first = all.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
  const last = all.reduce((most, one) => Math.max(most, one), 0);
  const [begin, scale] = [Date.now() + 30_000, Math.min(1, 5000 / (last - first))];
  const moved = (text: string) => {
    const ms = Math.round(begin + (instantOf(text) - first) * scale);
    return text.includes('T') ? new Date(ms).toISOString() : String(ms);
  };
  return new Map([...files].map(([name, text]) => [name, text.replaceAll(INSTANT, moved)]));
}

/** Where an agent keeps its files by default, below the home. */
function folderOf(folders: readonly string[]): string {
  const [first = ''] = folders;
  return first.replace(/\$\{\w+:-([^},]*)[^}]*\}/, '$1').replace(/^~\//, '');
}

interface Usage {
  readonly agent: string;
  readonly model_id: string;
  readonly cost_usd: number;
  readonly [member: string]: unknown;
}

const COUNTERS = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'unpriced_tokens',
] as const;

const eventsOf = (got: readonly Got[]) =>
  got
    .filter(({ path }) => path.endsWith('/events'))
    .flatMap(({ body }) => body.trimEnd().split('\n'))
    .map((line) => JSON.parse(line));

/** Lines of a session that end now. */
function linesOfNow(name: string, prompts: number, cwd: string): string {
  return [...ofNow(new Map([['lines', sessionLines(name, prompts, cwd).join('\n')]])).values(), ''].join(
    '\n',
  );
}

/** The environment of a program that does nothing for a second after it has started another one, as on a busy machine. */
const RESTS_AFTER_SPAWN = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`
    import processes from 'node:child_process';
    import { syncBuiltinESMExports } from 'node:module';
    const { spawn } = processes;
    processes.spawn = (...all) => {
      const child = spawn(...all);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
      return child;
    };
    syncBuiltinESMExports();
  `)}`,
};

describe('run', () => {
  test('counts and prices what all agents did as "daybook local" does', async () => {
    const laptop = new Laptop('ada');
    const staged = temporaryFolder();
    const agents = sources.filter(({ name }) => existsSync(join(AGENTS, name, 'whole-session')));
    for (const source of agents)
      write(join(staged, folderOf(source.folders)), ofNow(caseOf(source, 'whole-session').files));
    const server = await falseServer(() => undefined);
    const summary = join(laptop.home, 'summary.json');
    const { code, stdout, stderr } = await ended(
      laptop.program(['run', '--any-folder', '--summary', summary, '--', 'sh', '-c', PLAY, staged], {
        DAYBOOK_URL: server.url,
        DAYBOOK_KEY: 'k',
      }),
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    const { models, total, ...rest } = JSON.parse(readFileSync(summary, 'utf8'));
    const sent = eventsOf(server.got);
    expect(stderr).toMatch(new RegExp(`^${sent.length} events sent to ${server.url}\\.$`, 'm'));
    expect(rest).toMatchObject({
      exit_code: 0,
      events: sent.length,
      events_sent: sent.length,
      problem: null,
    });
    expect(agents.length).toBeGreaterThan(10);
    expect([...new Set(models.map(({ agent }: Usage) => agent))].sort()).toEqual(
      [...new Set(sent.filter(({ type }) => type === 'model_usage').map(({ agent }) => agent))].sort(),
    );
    const local = await ended(laptop.program(['local', '--models', '--json']));
    const own = JSON.parse(local.stdout);
    for (const member of COUNTERS) expect([member, total[member]]).toEqual([member, own.total[member]]);
    expect(total.cost_usd).toBeCloseTo(own.total.cost_usd, 9);
    expect(total.cost_usd).toBeGreaterThan(0);
    for (const row of own.rows) {
      const same = models.filter(({ model_id }: Usage) => model_id === row.group_key);
      for (const member of COUNTERS)
        expect([
          row.group_key,
          member,
          same.reduce((sum: number, one: Usage) => sum + Number(one[member]), 0),
        ]).toEqual([row.group_key, member, row[member]]);
      expect(same.reduce((sum: number, one: Usage) => sum + one.cost_usd, 0)).toBeCloseTo(
        row.cost_usd ?? 0,
        9,
      );
    }
  });

  test('gives a service what the run did, and "daybook collect" nothing to count again', async () => {
    const data = join(temporaryFolder(), 'data');
    const { url } = await served(data);
    const [owner, key] = [await keyOf(data, 'owner'), await keyOf(data, 'ingest')];
    const laptop = new Laptop('ada');
    const project = temporaryFolder();
    const staged = temporaryFolder();
    write(staged, [['.claude/projects/p/s.jsonl', linesOfNow('s', 3, project)]]);
    const env = { DAYBOOK_URL: url, DAYBOOK_KEY: key };
    const page = join(laptop.home, 'page.md');
    writeFileSync(page, 'Before.\n');
    const ran = await ended(
      laptop.program(
        ['run', '--user', 'ci', '--', 'sh', '-c', PLAY, staged],
        { ...env, GITHUB_STEP_SUMMARY: page },
        project,
      ),
    );
    expect(ran).toMatchObject({ code: 0, stdout: '' });
    expect(ran.stderr).toMatch(/^claude-code +claude-opus-4-5-20251101 +9 +270 +0 +303 +0\.007$/m);
    expect(readFileSync(page, 'utf8')).toMatch(
      /^Before\.\n### Coding agents in this run\n[\s\S]*\| claude-code \| claude-opus-4-5-20251101 \| 9 \| 270 \| 0 \| 303 \| 0\.007 \|/,
    );
    const today = async () => {
      const answer = await fetch(`${url}/api/v1/analytics/today`, {
        headers: { authorization: `Bearer ${owner}` },
      });
      return ((await answer.json()) as { data: { tokens: Record<string, unknown>; users: unknown[] } }).data;
    };
    await until(async () => Number((await today()).tokens.output_tokens) > 0);
    const counted = await today();
    expect(counted.tokens).toMatchObject({ input_tokens: 9, output_tokens: 270, cache_read_tokens: 303 });
    const again = await ended(laptop.program(['collect', '--user', 'ci'], env));
    expect(again.stdout).toMatch(/^\d+ events sent, 1 file read\.$/m);
    expect((await today()).tokens).toEqual(counted.tokens);
  });

  test('leaves out what was there before, in the same session and in others', async () => {
    const laptop = new Laptop('ada').work(2);
    const project = temporaryFolder();
    laptop.append(laptop.session('s'), `${sessionLines('s', 2, project).join('\n')}\n`);
    const staged = temporaryFolder();
    write(staged, [['more', linesOfNow('s', 5, project).replaceAll('-s-', '-s-later-')]]);
    const server = await falseServer(() => undefined);
    const { code, stderr } = await ended(
      laptop.program(
        ['run', '--', 'sh', '-c', `cat "$0/more" >> ${laptop.session('s')}`, staged],
        { DAYBOOK_URL: server.url, DAYBOOK_KEY: 'k' },
        project,
      ),
    );
    expect(code).toBe(0);
    const sent = eventsOf(server.got);
    expect(sent.filter(({ type }) => type === 'model_usage')).toHaveLength(5);
    expect(new Set(sent.map(({ session_id }) => session_id))).toEqual(new Set(['s']));
    expect(stderr).toMatch(/^total +15 +450 +0 +510 +0\.012$/m);
  });

  test('leaves out sessions in other folders unless it is asked for them', async () => {
    const [project, other] = [temporaryFolder(), temporaryFolder()];
    const staged = temporaryFolder();
    mkdirSync(join(project, 'below'));
    const server = await falseServer(() => undefined);
    const sessions = async (...options: string[]) => {
      server.got.length = 0;
      write(staged, [
        ['.claude/projects/p/here.jsonl', linesOfNow('here', 1, project)],
        ['.claude/projects/p/below.jsonl', linesOfNow('below', 1, join(project, 'below'))],
        ['.claude/projects/p/other.jsonl', linesOfNow('other', 1, other)],
      ]);
      const { stderr } = await ended(
        new Laptop('ada').program(
          ['run', ...options, '--', 'sh', '-c', PLAY, staged],
          { DAYBOOK_URL: server.url, DAYBOOK_KEY: 'k' },
          project,
        ),
      );
      return {
        stderr,
        sessions: [...new Set(eventsOf(server.got).map(({ session_id }) => session_id))].sort(),
      };
    };
    const own = await sessions();
    expect(own.sessions).toEqual(['below', 'here']);
    expect(own.stderr).toContain(`are left out (${other}): --any-folder counts them.\n`);
    const all = await sessions('--any-folder');
    expect(all.sessions).toEqual(['below', 'here', 'other']);
    expect(all.stderr).not.toContain('left out');
  });

  test('is the command to whoever starts it: input, outputs, exit code and signals', async () => {
    const laptop = new Laptop('ada');
    const run = (words: readonly string[], input = '') =>
      ended(laptop.program(['run', '--', ...words]), input);
    const script = 'cat; echo "<$1> $DAYBOOK_KEY" >&2; exit 7';
    const echoed = await ended(
      laptop.program(['run', '--', 'sh', '-c', script, 'sh', '-p'], { DAYBOOK_KEY: 'k' }),
      'in',
    );
    expect(echoed).toMatchObject({ code: 7, stdout: 'in' });
    expect(echoed.stderr).toMatch(/^<-p> \n/);
    expect(await run(['sh', '-c', 'kill -KILL $$'])).toMatchObject({ code: 137 });
    expect(await run(['no-such-agent'])).toEqual({
      code: 127,
      stdout: '',
      stderr: 'There is no program no-such-agent: install it, or correct its name or PATH.\n',
    });
    const file = join(laptop.home, 'text');
    writeFileSync(file, '');
    expect(await run([file])).toMatchObject({ code: 126 });
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      const script = `trap 'echo got; kill -KILL $!; exit 9' ${signal.slice(3)}; echo on; sleep 60 & wait`;
      const child = laptop.program(['run', '--', 'sh', '-c', script], RESTS_AFTER_SPAWN);
      let text = '';
      child.stdout?.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      await until(async () => text.includes('on'));
      child.kill(signal);
      const [code] = await once(child, 'close');
      expect([signal, code, text]).toEqual([signal, 9, 'on\ngot\n']);
    }
  });

  test.skipIf(!hasTerminal)('in a terminal passes no key on that the command has already had', async () => {
    const laptop = new Laptop('ada');
    // It stays for a while after the key, which is passed on within that time if it is.
    const script =
      'trap "got=1; echo got" INT; echo on; until [ "$got" ]; do sleep 0.1; done; for i in 1 2 3 4 5 6; do sleep 0.5; done; echo off';
    const type = typing(
      startInTerminal(`node ${laptop.cli} run -- sh -c '${script}'`, { HOME: laptop.home }),
    );
    await type('', /on\r\n/);
    const seen = await type('\u0003', /off\r\n/);
    expect(seen.match(/got/g)).toHaveLength(1);
  });

  test('has the exit code of the command when sending fails, and says what becomes of the events', async () => {
    const server = await falseServer(({ path }) => (path.endsWith('/events') ? { status: 503 } : undefined));
    const staged = temporaryFolder();
    const laptop = new Laptop('ada');
    write(staged, [['.claude/projects/p/s.jsonl', linesOfNow('s', 2, laptop.home)]]);
    const run = (more: Record<string, string>, ...options: string[]) =>
      ended(
        laptop.program(['run', '--wait', '0', ...options, '--', 'sh', '-c', `${PLAY}; exit 5`, staged], more),
      );
    const later =
      /"daybook collect" sends the others from the agents' own files, as long as these are on this machine\.\n$/;
    const down = await run({ DAYBOOK_URL: server.url, DAYBOOK_KEY: 'k' }, '--summary', 'x.json');
    expect(down).toMatchObject({ code: 5, stdout: '' });
    expect(down.stderr).toContain(`0 of 10 events sent: ${server.url} answers 503. `);
    expect(down.stderr).toMatch(later);
    expect(JSON.parse(readFileSync(join(laptop.home, 'x.json'), 'utf8'))).toMatchObject({
      ...{ exit_code: 5, events: 10, events_sent: 0, problem: expect.stringContaining('answers 503') },
      total: { output_tokens: 180 },
    });
    write(staged, [['.claude/projects/p/t.jsonl', linesOfNow('t', 2, laptop.home)]]);
    const unreachable = await run({ DAYBOOK_URL: 'http://127.0.0.1:9', DAYBOOK_KEY: 'k' });
    expect(unreachable).toMatchObject({ code: 5, stderr: expect.stringMatching(later) });
    write(staged, [['.claude/projects/p/u.jsonl', linesOfNow('u', 2, laptop.home)]]);
    const unnamed = await run({ DAYBOOK_URL: server.url, DAYBOOK_KEY: '' });
    expect(unnamed).toMatchObject({ code: 5 });
    expect(unnamed.stderr).toMatch(
      /Nothing was sent, because no service is named: set DAYBOOK_URL and DAYBOOK_KEY\.\n$/,
    );
  });

  test('runs the command also where it can write nothing, and ends at once when it is stopped', async () => {
    const laptop = new Laptop('ada');
    const full = await ended(
      laptop.program(['run', '--', 'sh', '-c', 'exit 6'], { TMPDIR: '/no/such/folder' }),
    );
    expect(full).toMatchObject({ code: 6, stdout: '' });
    expect(full.stderr).toMatch(/^The events of this run can't be collected: ENOENT/);
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const [staged, temporary] = [temporaryFolder(), temporaryFolder()];
    write(staged, [['.claude/projects/p/s.jsonl', linesOfNow('s', 1, laptop.home)]]);
    const child = laptop.program(['run', '--', 'sh', '-c', `${PLAY}; exit 4`, staged], {
      DAYBOOK_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      ...{ DAYBOOK_KEY: 'k', TMPDIR: temporary },
    });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      said += part;
    });
    await until(() => /^total /m.test(said));
    child.kill('SIGTERM');
    const [code] = await once(child, 'close');
    expect(code).toBe(4);
    expect(said).toMatch(/This run was stopped before all of its events were sent\.\n$/);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test('refuses wrong options before it starts the command', async () => {
    const laptop = new Laptop('ada');
    const run = async (...options: string[]) => {
      const { code, stderr } = await ended(laptop.program(['run', ...options, '--', 'touch', 'started']));
      expect(existsSync(join(laptop.home, 'started'))).toBe(false);
      return { code, stderr };
    };
    expect(await run('--summary', 'x.txt')).toEqual({
      code: 2,
      stderr: '--summary must name a file that ends in .json or .md.\n',
    });
    expect(await run('--key', '-')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('DAYBOOK_KEY'),
    });
    expect(await run('--key', 'k', '--server', 'acme')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--server'),
    });
    expect(await run('--wait', 'x')).toMatchObject({ code: 2 });
  });

  test('sends and leaves behind no text of prompts, answers and files', async () => {
    const server = await falseServer(() => undefined);
    const laptop = new Laptop('ada');
    const [staged, temporary] = [temporaryFolder(), temporaryFolder()];
    write(staged, [['.claude/projects/p/s.jsonl', linesOfNow('s', 2, laptop.home)]]);
    const { stderr } = await ended(
      laptop.program(['run', '--summary', 'x.md', '--', 'sh', '-c', PLAY, staged], {
        ...{ DAYBOOK_URL: server.url, DAYBOOK_KEY: 'k', TMPDIR: temporary },
      }),
    );
    const all = [
      stderr,
      readFileSync(join(laptop.home, 'x.md'), 'utf8'),
      ...server.got.map(({ body }) => body),
    ].join('\n');
    expect(all).toContain('tool-s-0');
    expect(all).not.toContain(SECRET);
    expect(readdirSync(temporary)).toEqual([]);
    expect(readdirSync(laptop.home).sort()).toEqual(['.claude', 'x.md']);
  });

  test('says so when no agent wrote anything', async () => {
    const { code, stderr } = await ended(new Laptop('ada').work(1).program(['run', '--', 'true']));
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'No agent wrote a session in this run.\n' });
  });
});
