import { execFileSync } from 'node:child_process';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildApp } from '../src/api/app.js';
import type { Step } from '../src/computer/step.js';
import { freePort } from './ask.js';
import { E2bServer } from './e2b.js';
import { type Agent, Service, until } from './service.js';
import { temporaryFolder } from './world.js';

let shared: Service;
beforeAll(async () => {
  shared = await Service.start({}, afterAll);
});

/** A server of git repositories, as files: git itself can read them so. */
async function gitServer(repositories: Record<string, Record<string, string>>) {
  const folder = temporaryFolder();
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=ada', '-c', 'user.email=ada@acme.test', ...args], {
      cwd,
      stdio: 'pipe',
    });
  const add = (name: string, files: Record<string, string>) => {
    const work = join(folder, `${name}.work`);
    mkdirSync(work);
    git(work, 'init', '--quiet');
    for (const [path, content] of Object.entries(files)) writeFileSync(join(work, path), content);
    git(work, 'add', '--all');
    git(work, 'commit', '--quiet', '-m', 'first');
    git(folder, 'clone', '--quiet', '--bare', work, join(folder, `${name}.git`));
    git(join(folder, `${name}.git`), 'update-server-info');
  };
  for (const [name, files] of Object.entries(repositories)) add(name, files);
  let asked = 0;
  const server = createServer((request, answer) => {
    asked += 1;
    const path = join(folder, decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname));
    if (!existsSync(path) || !statSync(path).isFile()) answer.writeHead(404).end();
    else createReadStream(path).pipe(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: (name: string) => `${url}/${name}.git`, add, asked: () => asked };
}

const LOCK = JSON.stringify({ name: 'p', lockfileVersion: 3, packages: { '': { name: 'p' } } });

interface Shown {
  readonly status: string;
  readonly provisioningSteps: Step[];
  readonly connectedAt: number | null;
}

async function stepsOf(service: Service, id: string): Promise<Shown> {
  return (await service.as('member', 'ada')('GET', `/computers/${id}`)).body;
}

/** Waits until nothing of a computer is to be done any more. */
async function settled(service: Service, id: string) {
  await until(
    async () =>
      (await stepsOf(service, id)).provisioningSteps.every(
        ({ status }) => status === 'completed' || status === 'failed',
      ) || (await stepsOf(service, id)).status === 'error',
  );
  return stepsOf(service, id);
}

const clones = ({ workspace }: Agent) => readdirSync(workspace).sort();

describe('the repositories of a computer', () => {
  test('are cloned when its agent connects, and their dependencies installed by what the lock file names', async () => {
    const git = await gitServer({
      api: {
        'package.json': '{"name": "p", "scripts": {"install": "echo hello > installed"}}',
        'package-lock.json': LOCK,
      },
      docs: { 'README.md': '# Docs' },
    });
    const service = shared;
    const computer = await service.computer({
      repos: [git.url('api'), git.url('docs')],
      autoInstallDeps: true,
    });
    expect((await stepsOf(service, computer.id)).provisioningSteps.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'pending',
      'pending',
    ]);
    const agent = await service.agent(computer);
    const { status, provisioningSteps } = await settled(service, computer.id);
    expect(provisioningSteps).toMatchObject([
      { name: 'create-computer', status: 'completed' },
      { name: 'configure-user', status: 'completed' },
      {
        name: 'clone-repos',
        status: 'completed',
        startedAt: service.world.now,
        completedAt: service.world.now,
      },
      { name: 'install-dependencies', status: 'completed', installSessionId: expect.stringMatching(/^ins_/) },
    ]);
    expect(status).toBe('active');
    expect(clones(agent)).toEqual(['api', 'docs']);
    expect(readFileSync(join(agent.workspace, 'docs', 'README.md'), 'utf8')).toBe('# Docs');
    expect(readFileSync(join(agent.workspace, 'api', 'installed'), 'utf8')).toBe('hello\n');
  });

  test('that are not to be had make the computer an error, with what git said; a retry goes on from there', async () => {
    const git = await gitServer({ api: { 'README.md': '# API' } });
    const service = shared;
    const ada = service.as('member', 'ada');
    const computer = await service.computer({ repos: [git.url('api'), git.url('late')] });
    const agent = await service.agent(computer);
    const failed = await settled(service, computer.id);
    expect(failed.status).toBe('error');
    expect(failed.provisioningSteps[2]).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('not found'),
    });
    expect(clones(agent)).toEqual(['api']);
    const before = git.asked();
    git.add('late', { 'README.md': '# Late' });
    writeFileSync(join(agent.workspace, 'api', 'mine'), '');
    const { status, body } = await ada('POST', `/computers/${computer.id}/retry`);
    expect(status).toBe(200);
    expect(body.status).toBe('provisioning');
    await until(async () => (await stepsOf(service, computer.id)).status === 'active');
    expect(clones(agent)).toEqual(['api', 'late']);
    expect(existsSync(join(agent.workspace, 'api', 'mine'))).toBe(true);
    expect(git.asked()).toBeGreaterThan(before);
    const { provisioningSteps } = await stepsOf(service, computer.id);
    expect(provisioningSteps[2]).toMatchObject({ status: 'completed' });
    expect(provisioningSteps[2]).not.toHaveProperty('error');
  });

  test('whose folder is taken by something else are an error that says so', async () => {
    const git = await gitServer({ api: { 'README.md': '# API' } });
    const service = shared;
    const computer = await service.computer({ repos: [git.url('api'), `${git.url('api')}/`] });
    const agent = await service.agent(computer);
    const { provisioningSteps } = await settled(service, computer.id);
    expect(provisioningSteps[2]?.error).toMatch(/There is something called api in the workspace already/);
    expect(clones(agent)).toEqual(['api']);
  });

  test('whose dependencies can not be installed are an error, with what the package manager said', async () => {
    const git = await gitServer({
      api: { 'package.json': '{"name": "other", "dependencies": {"x": "1"}}', 'package-lock.json': LOCK },
    });
    const service = shared;
    const computer = await service.computer({ repos: [git.url('api')], autoInstallDeps: true });
    await service.agent(computer);
    const { status, provisioningSteps } = await settled(service, computer.id);
    expect(status).toBe('error');
    expect(provisioningSteps.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
      'failed',
    ]);
    expect(provisioningSteps[3]?.error).toMatch(/^"npm ci" ended with 1: /);
  });

  test('are cloned after the service was stopped in the middle', async () => {
    const git = await gitServer({ api: { 'README.md': '# API' } });
    const service = await Service.start();
    const computer = await service.computer({ repos: [git.url('api')] });
    // As a service leaves it that falls while the agent is at work.
    const { provisioningSteps } = await stepsOf(service, computer.id);
    const cut = provisioningSteps.map((step) =>
      step.name === 'clone-repos' ? { ...step, status: 'in_progress', startedAt: 1 } : step,
    );
    await service.world.store.run([
      {
        sql: 'UPDATE computers SET steps = $steps WHERE computer_id = $id',
        parameters: { steps: JSON.stringify(cut), id: computer.id },
      },
    ]);
    await service.app.close();
    const next = buildApp(service.world);
    await next.listen({ port: Number(new URL(service.url).port), host: '127.0.0.1' });
    onTestFinished(() => next.close());
    const agent = await service.agent(computer);
    await settled(service, computer.id);
    expect(clones(agent)).toEqual(['api']);
  });

  test('are not looked for in the files of the machine', async () => {
    const git = await gitServer({ api: { 'README.md': '# API' } });
    const service = shared;
    const computer = await service.computer({ repos: [git.url('api')] });
    // What got into the store some other way is git's to refuse.
    const path = temporaryFolder();
    await service.world.store.run([
      {
        sql: 'UPDATE computers SET repos = $repos WHERE computer_id = $id',
        parameters: { repos: JSON.stringify([`file://${path}`]), id: computer.id },
      },
    ]);
    const agent = await service.agent(computer);
    const { provisioningSteps } = await settled(service, computer.id);
    expect(provisioningSteps[2]?.error).toMatch(/transport 'file' not allowed/);
    expect(clones(agent)).toEqual([]);
    rmSync(path, { recursive: true });
  });
});

describe('a computer of the provider e2b', () => {
  let e2b: E2bServer;
  let service: Service;
  beforeAll(async () => {
    e2b = await E2bServer.start(afterAll);
    const port = await freePort();
    service = await Service.start(
      { ...e2b.environment, DAYBOOK_URL: `http://127.0.0.1:${port}` },
      afterAll,
      port,
    );
  });
  const made = { provider: 'e2b', remoteUser: userInfo().username };
  const of = (id: string) =>
    [...e2b.sandboxes.values()].find(({ metadata }) => metadata.daybookComputer === id);

  test('is a sandbox with its agent in it: repositories and files go there as to any machine', async () => {
    const git = await gitServer({ api: { 'README.md': '# API' } });
    const computer = await service.computer({ ...made, repos: [git.url('api')] });
    expect(computer).toMatchObject({ providerType: 'e2b', status: 'provisioning', connectedAt: null });
    expect(computer).not.toHaveProperty('agentToken');
    const { status, provisioningSteps } = await settled(service, computer.id);
    expect(provisioningSteps.map(({ status, error }) => error ?? status)).toEqual(Array(3).fill('completed'));
    expect(status).toBe('active');
    const workspace = join(of(computer.id)?.home ?? '', 'workspace');
    expect(readFileSync(join(workspace, 'api', 'README.md'), 'utf8')).toBe('# API');
    expect(e2b.asked).toContain('command of root:');
    expect(e2b.asked).toContain(`command of ${made.remoteUser}:`);

    const { complete } = await service.sent(computer.id, 'hello.txt', 'hello');
    expect((await complete({ destPath: 'docs' })).status).toBe(200);
    expect(readFileSync(join(workspace, 'docs', 'hello.txt'), 'utf8')).toBe('hello');

    // Asleep, it is woken by the next file for it.
    e2b.pause(of(computer.id)?.id ?? '');
    await until(async () => (await stepsOf(service, computer.id)).connectedAt === null);
    const next = await service.sent(computer.id, 'next.txt', 'next');
    expect((await next.complete()).status).toBe(503);
    await until(async () => (await next.complete()).status === 200);
    expect(readFileSync(join(workspace, 'next.txt'), 'utf8')).toBe('next');
    await until(async () => (await stepsOf(service, computer.id)).status === 'active');

    // Gone, it is an error that says so, and a retry makes another.
    e2b.kill(of(computer.id)?.id ?? '');
    await until(async () => (await stepsOf(service, computer.id)).connectedAt === null);
    const last = await service.sent(computer.id, 'last.txt', 'last');
    expect((await last.complete()).status).toBe(503);
    await until(async () => (await stepsOf(service, computer.id)).status === 'error');
    expect((await stepsOf(service, computer.id)).provisioningSteps[0]?.error).toMatch(/machine is gone/);
    const ada = service.as('member', 'ada');
    expect((await ada('POST', `/computers/${computer.id}/retry`)).status).toBe(200);
    await until(async () => (await stepsOf(service, computer.id)).status === 'active');
    expect((await last.complete()).status).toBe(200);

    expect((await ada('DELETE', `/computers/${computer.id}`)).status).toBe(204);
    expect(of(computer.id)).toBeUndefined();
  });

  test('that can not be made is an error with what the provider said, and a retry goes on from there', async () => {
    const ada = service.as('member', 'ada');
    const source = { kind: 'template', templateId: 'missing' };
    const missing = await service.computer({ ...made, source });
    expect((await settled(service, missing.id)).provisioningSteps[0]?.error).toMatch(
      /^E2B: .*template 'missing'/,
    );
    e2b.failure = { status: 500, message: 'the data centre burns' };
    const unlucky = await service.computer(made);
    expect((await settled(service, unlucky.id)).provisioningSteps[0]?.error).toMatch(/the data centre burns/);
    e2b.failure = undefined;
    expect((await ada('POST', `/computers/${unlucky.id}/retry`)).body.status).toBe('provisioning');
    await until(async () => (await stepsOf(service, unlucky.id)).status === 'active');
    // What the provider doesn't remove is not forgotten.
    e2b.failure = { status: 500, message: 'the data centre burns' };
    expect((await ada('DELETE', `/computers/${unlucky.id}`)).body).toMatchObject({ status: 503 });
    e2b.failure = undefined;
    expect((await ada('DELETE', `/computers/${unlucky.id}`)).status).toBe(204);
    expect(of(unlucky.id)).toBeUndefined();
  });

  test('without the program in its template is an error that says so', async () => {
    e2b.beforeCreated = () => {
      for (const { home } of e2b.sandboxes.values()) rmSync(join(home, 'bin'), { recursive: true });
    };
    const bare = await service.computer(made);
    expect((await settled(service, bare.id)).provisioningSteps[1]?.error).toMatch(/no program "daybook"/);
    e2b.beforeCreated = () => {};
  });

  test('is not made from another computer: its memory has the token of that one', async () => {
    const other = await service.computer();
    const source = { kind: 'computer', computerId: other.id };
    const refused = await service.as('member', 'ada')('POST', '/computers', {
      name: 'copy',
      ...made,
      source,
    });
    expect(refused.body).toMatchObject({
      status: 400,
      detail: expect.stringContaining('scratch or template'),
    });
  });

  test('that was being made when the service stopped is made once, and gone on with after the start', async () => {
    let reached = () => {};
    const isReached = new Promise<void>((resolve) => {
      reached = resolve;
    });
    e2b.beforeCreated = () => new Promise(reached);
    const computer = await service.computer(made);
    await isReached;
    await service.app.close();
    e2b.beforeCreated = () => {};
    const next = buildApp(service.world);
    await next.listen({ port: Number(new URL(service.url).port), host: '127.0.0.1' });
    onTestFinished(() => next.close());
    await until(async () => (await stepsOf(service, computer.id)).status === 'active');
    const ours = [...e2b.sandboxes.values()].filter(
      ({ metadata }) => metadata.daybookComputer === computer.id,
    );
    expect(ours).toHaveLength(1);
  });
});
