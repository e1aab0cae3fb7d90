import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { readConfig } from '../src/settings/config.js';
import { copiesOf, filesIn, readIgnore } from './image-files.js';

const read = (name: string) => readFileSync(join(PACKAGE_ROOT, name), 'utf8');
const isLetIn = readIgnore(read('.dockerignore'));

test('patterns are read as Docker reads them', () => {
  const isIn = readIgnore('*\n!a\n!b/**/*.ts\n!c/*.md\nc/README.md\n**/.*\n');
  const paths = [
    'a',
    'a/x/y',
    'b/x.ts',
    'b/x/y.ts',
    'b/x.js',
    'c/x.md',
    'c/x/y.md',
    'c/README.md',
    'a/.env',
    '.a/x',
    'd',
  ];
  expect(paths.filter(isIn)).toEqual(['a', 'a/x/y', 'b/x.ts', 'b/x/y.ts', 'c/x.md']);
});

test('no exception has a wildcard, since not every builder looks into folders for one', () => {
  expect(read('.dockerignore')).not.toMatch(/^!.*[*?[]/m);
});

test('the image is made from what the repository ships, and from nothing else that lies around', () => {
  const shipped = filesIn(PACKAGE_ROOT).filter(isLetIn);
  const kinds = shipped.map((path) => {
    if (path.startsWith('data/sample/')) return 'data/sample';
    const kind = /^(src|sql|web|docs|data\/readiness)\/.*(\.\w+)$/.exec(path);
    return kind === null ? path : `${kind[1]} ${kind[2]}`;
  });
  expect([...new Set(kinds)].sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'data/base-prices.json',
    'data/languages.json',
    'data/prices.json',
    'data/rate-card.json',
    'data/readiness .json',
    'data/sample',
    'docs .json',
    'docs .md',
    'docs .service',
    'docs .timer',
    'package-lock.json',
    'package.json',
    'scripts/collector.js',
    'sql .json',
    'sql .sql',
    // The licence of generated code.
    'src .md',
    'src .ts',
    'tsconfig.build.json',
    'tsconfig.json',
    'web .css',
    'web .html',
    'web .json',
    'web .svg',
    'web .ts',
    'web .tsx',
  ]);
  const decoys = [
    ...['secret.key', 'daybook.duckdb', 'daybook.duckdb.wal', 'daybook.sock', 'staging.duckdb'],
    ...[
      'lake/acme/events.parquet',
      'inbox/1.ndjson',
      'objects/1',
      'restored/daybook.duckdb',
      'readiness/.env',
    ],
  ].map((name) => `data/${name}`);
  const others = [
    ...[
      '.env',
      '.env.production',
      'secret.key',
      'backups/daybook.tar',
      'daybook.duckdb',
      'npm-debug.log',
      '.npmrc',
    ],
    ...['src/.env', 'docs/.DS_Store', 'sql/.env', 'data/sample/.env'],
    ...['node_modules/zod/package.json', 'dist/cli.js', 'test/world.ts', 'bench/run.ts', '.git/config'],
  ];
  expect([...decoys, ...others].filter(isLetIn)).toEqual([]);
});

test('everything that the Dockerfile copies is let in, or was made by the stage before', () => {
  const files = filesIn(PACKAGE_ROOT).filter(isLetIn);
  const stages = copiesOf(read('Dockerfile'));
  const copies = stages.flat();
  for (const source of copies.filter(({ from }) => from === undefined).flatMap(({ sources }) => sources))
    expect(
      files.some((file) => file === source || file.startsWith(`${source}/`)),
      source,
    ).toBe(true);
  // What is made there: npm ci and tsc.
  const made = copies.filter(({ from }) => from === 'build').flatMap(({ sources }) => sources);
  expect(made).toEqual(['/opt/daybook/node_modules', '/opt/daybook/dist']);
  expect(stages).toHaveLength(2);
  // Nothing is let in for no stage.
  const copied = copies.flatMap(({ sources }) => sources);
  const isCopied = (file: string) =>
    copied.some((source) => file === source || file.startsWith(`${source}/`));
  expect(files.filter((file) => !isCopied(file))).toEqual([]);
});

/** The manifest for Kubernetes in the docs, by the kind of its documents. */
function manifest() {
  const [text = ''] = /^ {4}apiVersion: [\s\S]+?(?=\n\n)/m.exec(read('docs/operations.md')) ?? [];
  const documents = parseAllDocuments(text.replaceAll(/^ {4}/gm, ''));
  for (const { errors } of documents) expect(errors).toEqual([]);
  return Object.fromEntries(documents.map((document) => document.toJS()).map((one) => [one.kind, one]));
}

test('the manifest for Kubernetes has one writer, and the user, the port and the folder of the image', () => {
  const { Deployment, Service, PersistentVolumeClaim } = manifest();
  const image = read('Dockerfile');
  const [, user, group] = /^USER (\d+):(\d+)$/m.exec(image)?.map(Number) ?? [];
  const [, volume] = /^VOLUME (.+)$/m.exec(image) ?? [];
  const port = Number(/^EXPOSE (\d+)$/m.exec(image)?.[1]);
  const { replicas, strategy, selector, template } = Deployment.spec;
  expect({ replicas, strategy }).toEqual({ replicas: 1, strategy: { type: 'Recreate' } });
  expect(template.metadata.labels).toEqual(selector.matchLabels);
  expect(Service.spec.selector).toEqual(selector.matchLabels);
  expect(Service.spec.ports[0].targetPort).toBe(port);
  const { securityContext, containers, volumes, terminationGracePeriodSeconds } = template.spec;
  expect(securityContext).toMatchObject({ runAsUser: user, runAsGroup: group, fsGroup: group });
  const [container] = containers;
  expect(container.volumeMounts).toMatchObject([{ name: volumes[0].name, mountPath: volume }]);
  expect(volumes[0].persistentVolumeClaim.claimName).toBe(PersistentVolumeClaim.metadata.name);
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
    expect(container[probe].httpGet).toMatchObject({
      path: expect.stringMatching(/^\/(health|ready)z$/),
      port,
    });
  // A build may take twenty seconds longer than a request.
  expect(terminationGracePeriodSeconds).toBeGreaterThan(readConfig({}).timeoutSeconds + 20);
  expect(read('docs/systemd/daybook.service')).toContain(`TimeoutStopSec=${terminationGracePeriodSeconds}\n`);
});

test('the first process of the image is one that passes signals on before Node.js handles them', () => {
  expect(read('Dockerfile')).toMatch(/^ENTRYPOINT \["tini", "--", "node", "dist\/cli\.js"\]$/m);
  expect(read('Dockerfile').split('FROM ').at(-1)).toMatch(/apt-get install .*\btini\b/);
});
