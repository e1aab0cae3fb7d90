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
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildApp } from '../src/api/app.js';
import type { Step } from '../src/computer/step.js';
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

async function stepsOf(service: Service, id: string): Promise<{ status: string; provisioningSteps: Step[] }> {
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
