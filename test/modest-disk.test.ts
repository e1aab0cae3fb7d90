import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { compile } from './faults/preloaded.js';
import { daybook, ended, start } from './program.js';
import { until } from './service.js';
import { event, lines, temporaryFolder } from './world.js';

const library = join(temporaryFolder(afterAll), 'modest.so');
const isCompiled = compile('modest.c', library);

/** A data folder with an event, on a disk that can do everything. */
async function withEvent(): Promise<string> {
  const data = join(temporaryFolder(), 'data');
  const file = join(temporaryFolder(), 'events.ndjson');
  writeFileSync(file, lines([event('a')]));
  const { code, stderr } = await daybook(['--data', data, 'ingest', '--org', 'acme', file]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return data;
}

const refusing = (what: string) => ({ LD_PRELOAD: library, MODEST: what });

describe.skipIf(!isCompiled)('a machine that refuses', () => {
  test('modes is served, and the log warns', async () => {
    const data = await withEvent();
    const env = { ...refusing('chmod'), DAYBOOK_BUILD_AT: 'off' };
    const child = start(['--data', data, 'serve', '--port', '0'], { env });
    let [said, log] = ['', ''];
    child.stdout?.on('data', (part) => {
      said += part;
    });
    child.stderr?.on('data', (part) => {
      log += part;
    });
    await until(() => said.includes('Daybook serves on'));
    child.kill('SIGTERM');
    expect((await ended(child)).code).toBe(0);
    expect(log).toContain('The disk of the data folder has no permissions (chmod is refused): ');
  });

  test('IPv6 has :: be all of IPv4', async () => {
    const data = await withEvent();
    const serve = ['--data', data, 'serve', '--host', '[::]', '--port', '0'];
    for (const [refused, host] of [
      ['', '[::]'],
      ['ipv6', '127.0.0.1'],
    ] as const) {
      const child = start(serve, { env: { ...refusing(refused), DAYBOOK_BUILD_AT: 'off' } });
      let said = '';
      child.stdout?.on('data', (part) => {
        said += part;
      });
      await until(() => said.includes('Daybook serves on'));
      const [, shown, port] = /http:\/\/(\S+):(\d+) from/.exec(said) ?? [];
      expect(shown).toBe(host);
      expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
      child.kill('SIGTERM');
      await ended(child);
    }
  });

  test.each([
    ['link', 'hard links'],
    ['fsync', 'to sync folders'],
    ['link fsync', 'hard links and to sync folders'],
  ])('%s is not served, and a sentence says why', async (what, named) => {
    const data = await withEvent();
    const { code, stderr } = await daybook(['--data', data, 'serve', '--port', '0'], { env: refusing(what) });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `The disk of the data folder ${data} refuses ${named}, which Daybook needs to lose nothing: put the data folder on a local disk, and only backups there.\n`,
    });
  });

  test('sockets is not served', async () => {
    const data = await withEvent();
    const { code, stderr } = await daybook(['--data', data, 'serve', '--port', '0'], {
      env: { ...refusing('bind'), DAYBOOK_LOG_LEVEL: 'silent' },
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^The socket \S+, at which commands reach the service, can't be made \(EPERM\): /);
  });

  test('links makes no database', async () => {
    const data = join(temporaryFolder(), 'data');
    const file = join(temporaryFolder(), 'events.ndjson');
    writeFileSync(file, lines([event('a')]));
    const ingest = ['--data', data, 'ingest', '--org', 'acme', file];
    expect(await daybook(ingest, { env: refusing('link') })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^The disk of the data folder \S+ refuses hard links, .*\n$/),
    });
  });

  test('all of them takes a backup, and is backed up', async () => {
    const data = await withEvent();
    const folder = join(temporaryFolder(), 'backup');
    const all = refusing('chmod link fsync');
    const backup = await daybook(['--data', data, 'backup', folder], { env: all });
    expect(backup).toMatchObject({
      code: 0,
      stderr: `The disk of ${folder} has no permissions (chmod is refused): whoever can use the disk can read the backup.\n`,
    });
    expect(statSync(join(folder, 'manifest.json')).size).toBeGreaterThan(100);
    const restored = join(temporaryFolder(), 'restored');
    expect(await daybook(['--data', restored, 'restore', folder], { env: all })).toMatchObject({ code: 0 });
    expect(readFileSync(join(restored, 'daybook.duckdb'))).toEqual(
      readFileSync(join(folder, 'daybook.duckdb')),
    );
  });
});
