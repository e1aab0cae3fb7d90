import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { DATABASE } from '../src/disk/data-files.js';
import { readConfig } from '../src/settings/config.js';
import { openStore } from '../src/socket/open-store.js';
import { certificateFor } from './certificate.js';
import { CLI, daybook, ended, start } from './program.js';
import { until } from './service.js';
import { temporaryFolder } from './world.js';

function dataFolder(): string {
  const data = join(temporaryFolder(), 'data');
  mkdirSync(data);
  copyFileSync(inject('emptyDatabase'), join(data, DATABASE));
  return data;
}

/** A service that is starting. `log` is all of its output. */
function starting(
  data: string,
  env: Record<string, string> = {},
  program: readonly string[] = ['node', CLI],
) {
  const child = start(['--data', data, 'serve', '--port', '0'], {
    program,
    env: { DAYBOOK_BUILD_AT: 'off', ...env },
  });
  let text = '';
  const take = (part: Buffer) => {
    text += part;
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  const log = () => text;
  const url = async () => {
    await until(() => / on https?:\S+ from/.test(text));
    return /on (\S+) from/.exec(text)?.[1] ?? '';
  };
  return { child, log, url };
}

/** Another program that has the database open. */
async function holding(data: string): Promise<ChildProcess> {
  const text = `import { DuckDBInstance } from '@duckdb/node-api';
    globalThis.held = await DuckDBInstance.create(process.argv[1]);
    console.log('held');
    setInterval(() => globalThis.held, 1000);`;
  const child = spawn('node', ['--input-type=module', '--eval', text, join(data, DATABASE)], {
    stdio: 'pipe',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

describe('a service outlasts', () => {
  test('the reader of its log and of its output', async () => {
    const { child, url } = starting(dataFolder());
    const status = `${await url()}/api/v1/status`;
    child.stdout?.destroy();
    child.stderr?.destroy();
    // Each writes a line to the log.
    for (let asked = 0; asked < 3; asked += 1) expect((await fetch(status)).status).toBe(401);
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  });

  test('its certificate, and serves the one that replaces it', async () => {
    const folder = temporaryFolder();
    const pair = (name: string) => {
      const made = join(folder, name);
      mkdirSync(made);
      return certificateFor(`DNS:${name}`, made);
    };
    const [first, second] = [pair('first'), pair('second')];
    const tls = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
    copyFileSync(first.cert, tls.cert);
    copyFileSync(first.key, tls.key);
    const { child, log, url } = starting(dataFolder(), {
      DAYBOOK_TLS_CERT: tls.cert,
      DAYBOOK_TLS_KEY: tls.key,
    });
    const port = Number(new URL(await url()).port);
    const served = async () => {
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      const { subjectaltname } = socket.getPeerCertificate();
      socket.destroy();
      return subjectaltname;
    };
    expect(await served()).toBe('DNS:first');
    // The key is still to come.
    copyFileSync(second.cert, tls.cert);
    child.kill('SIGHUP');
    await until(() => log().includes('The certificate that was read before is served on: '));
    expect(await served()).toBe('DNS:first');
    copyFileSync(second.key, tls.key);
    // Nobody says so.
    await until(() => log().includes('the certificate was renewed'));
    expect(await served()).toBe('DNS:second');
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  });

  test('SIGHUP without a certificate', async () => {
    const { child, url } = starting(dataFolder());
    const health = `${await url()}/healthz`;
    child.kill('SIGHUP');
    expect((await fetch(health)).status).toBe(200);
  });
});

describe('another program has the database open', () => {
  test('the sentence names it, and SIGTERM ends the start at once, also in a container', async () => {
    const data = dataFolder();
    const { pid } = await holding(data);
    const sentence = `Waiting for node (process ${pid}) to finish, which has the database in ${data} open.`;
    const { child, log } = starting(data);
    await until(() => log().includes(sentence));
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect([child.exitCode, child.signalCode]).toEqual([null, 'SIGTERM']);
    if (spawnSync('unshare', ['--pid', '--fork', 'true']).status !== 0) return;
    const inside = starting(data, {}, ['unshare', '--pid', '--fork', '--kill-child', 'node', CLI]);
    await until(() => inside.log().includes('Waiting for '));
    const children = `/proc/${inside.child.pid}/task/${inside.child.pid}/children`;
    process.kill(Number(readFileSync(children, 'utf8')), 'SIGTERM');
    await once(inside.child, 'exit');
    expect(inside.child.exitCode).toBe(143);
  });

  test('a service gives up after a minute, and a command waits', async () => {
    const data = dataFolder();
    const { pid } = await holding(data);
    const config = readConfig({ DAYBOOK_DATA: data });
    let now = 0;
    const pause = async () => {
      now += 10_000;
      if (now > 600_000) throw new Error('it still waits');
    };
    const open = (isService: boolean) =>
      openStore(
        config,
        () => now,
        async () => false,
        { isService, pause },
      );
    await expect(open(true)).rejects.toMatchObject({
      name: 'MayPass',
      message: expect.stringMatching(`^node \\(process ${pid}\\) still has the database in `),
    });
    expect(now).toBe(60_000);
    await expect(open(false)).rejects.toThrow('it still waits');
  });

  test('a restore says which', async () => {
    const data = dataFolder();
    const backup = join(temporaryFolder(), 'backup');
    expect((await daybook(['--data', data, 'backup', backup])).code).toBe(0);
    const other = join(temporaryFolder(), 'other');
    cpSync(data, other, { recursive: true });
    const { pid } = await holding(other);
    const { code, stderr } = await daybook(['--data', other, 'restore', '--replace', backup]);
    expect(code).toBe(2);
    expect(stderr).toContain(`node (process ${pid}) has the database in ${other} open: end it first`);
  });
});

describe('a start that fails ends with', () => {
  const failed = (data: string, env: Record<string, string> = {}, ...args: string[]) =>
    ended(start(['--data', data, 'serve', ...args], { env }));

  test('2, which the unit does not restart, if somebody has to change something', async () => {
    const data = dataFolder();
    expect(await failed(data, { DAYBOOK_PORT: 'http' })).toMatchObject({ code: 2 });
    expect(await failed(data, { DAYBOOK_PROT: '8787' })).toMatchObject({ code: 2 });
    const folder = temporaryFolder();
    const [one, other] = [join(folder, 'one'), join(folder, 'other')];
    for (const made of [one, other]) mkdirSync(made);
    const mixed = {
      DAYBOOK_TLS_CERT: certificateFor('DNS:one', one).cert,
      DAYBOOK_TLS_KEY: certificateFor('DNS:other', other).key,
    };
    expect(await failed(data, mixed)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^DAYBOOK_TLS_CERT and DAYBOOK_TLS_KEY must be a certificate and its key .*\n$/,
      ),
    });
    expect(readFileSync(join(import.meta.dirname, '../docs/systemd/daybook.service'), 'utf8')).toContain(
      '\nRestartPreventExitStatus=2\n',
    );
  });

  test('another code, if that may pass by itself', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const data = dataFolder();
    expect(await failed(data, { DAYBOOK_PORT: String(port) })).toMatchObject({ code: 75 });
    // A network that isn't up yet.
    expect(await failed(data, { DAYBOOK_HOST: '192.0.2.1' })).toMatchObject({ code: 75 });
    const clickhouse = { DAYBOOK_STORE: 'clickhouse://ada:pw@127.0.0.1:9/daybook' };
    expect(await failed(data, clickhouse)).toMatchObject({ code: 75 });
  });
});
