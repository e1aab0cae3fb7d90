import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createKey } from '../../src/api/api-keys.js';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { buildApp } from '../../src/service/app.js';
import { temporaryFolder, World } from '../world.js';
import { readCompose, requiredBy } from './compose-file.js';

const SCRIPT = join(PACKAGE_ROOT, 'ops', 'cluster-test.sh');
const TEXT = readFileSync(SCRIPT, 'utf8');
const run = promisify(execFile);

/** A service on a store of its own, and a key of an owner. */
async function service() {
  const world = await World.create();
  world.now = Date.now();
  const app = buildApp(world);
  onTestFinished(() => app.close());
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const { key } = await createKey(world.store, { orgId: 'acme', role: 'owner' }, world.now);
  return { world, url, key };
}

test('the script says whether a service counts every acknowledged event once, as another one does', async () => {
  const [cluster, one] = [await service(), await service()];
  const work = temporaryFolder();
  const script = (...words: string[]) =>
    run('bash', [SCRIPT, ...words], { env: { ...process.env, WORK: work } });
  const verdict = () =>
    script('verdict', 'acme', cluster.key, cluster.url, one.key, one.url).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => `refused: ${error.stdout}`,
    );
  const acknowledged = () => readdirSync(join(work, 'acknowledged'));

  // The first node is none: its batches go to the next.
  const sending = script('send', 'acme', cluster.key, 'http://127.0.0.1:9', cluster.url);
  const watching = script('watch', 'acme', cluster.key, cluster.url);
  while (!readdirSync(work).includes('acknowledged') || acknowledged().length < 3)
    await new Promise((resolve) => setTimeout(resolve, 50));
  writeFileSync(join(work, 'stop'), '');
  await Promise.all([sending, watching]);
  expect(readdirSync(join(work, 'sent'))).toEqual([]);
  expect(readdirSync(work)).not.toContain('wrong');
  await script('replay', 'acme', one.key, one.url);
  const build = async () => {
    for (const { world } of [cluster, one]) {
      await world.inbox.drain(world.store);
      await world.build();
    }
  };
  await build();
  expect(await verdict()).toMatch(/ \d+ digests of acme are those of the one node\n$/);

  // A batch that was acknowledged and that neither has.
  const [lost = ''] = acknowledged();
  const batch = readFileSync(join(work, 'acknowledged', lost), 'utf8');
  writeFileSync(join(work, 'acknowledged', `${lost}-lost`), batch);
  expect(await verdict()).toMatch(/^refused: .* not every acknowledged event of acme counts once/);
  rmSync(join(work, 'acknowledged', `${lost}-lost`));

  // An event that only the one node has.
  writeFileSync(
    join(work, 'acknowledged', 'acme@late-0'),
    batch.replace(/"event_id":"/g, '"event_id":"late-'),
  );
  await script('replay', 'acme', one.key, one.url);
  rmSync(join(work, 'acknowledged', 'acme@late-0'));
  await build();
  expect(await verdict()).toMatch(/^refused: .* days of acme are not those of the one node/);
});

test('the script names services, ports and variables of the Compose file', () => {
  const text = readFileSync(join(PACKAGE_ROOT, 'ops', 'compose.cluster.yaml'), 'utf8');
  const { services } = readCompose(text);
  const words = (name: string) => new RegExp(`^${name}=\\((.+)\\)$`, 'm').exec(TEXT)?.[1]?.split(' ') ?? [];
  const nodes = words('nodes');
  expect(nodes).toEqual(Object.keys(services).filter((name) => name.startsWith('daybook-')));
  expect(words('urls')).toEqual(
    nodes.map((name) => `http://${services[name]?.ports[0]?.replace(/:\d+$/, '')}`),
  );
  const [, names = ''] = /for name in ([A-Z0-9_ ]+); do/.exec(TEXT) ?? [];
  expect(names.split(' ').sort()).toEqual([...requiredBy(text)].sort());
  for (const [, name = ''] of TEXT.matchAll(/\bfell ([a-z0-9]+)/g)) expect(services).toHaveProperty(name);
  expect(services).toHaveProperty('clickhouse-1');
  expect(services).toHaveProperty('clickhouse-2');
  expect(TEXT).toContain(`"\${project}_stores"`);
  execFileSync('bash', ['-n', SCRIPT]);
});
