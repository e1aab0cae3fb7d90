import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { readImage } from './kit-settings.js';
import { faultsOfManifests } from './manifest-faults.js';
import { readManifests } from './manifests.js';

const FOLDER = join(PACKAGE_ROOT, 'ops', 'kubernetes');
const README = readFileSync(join(PACKAGE_ROOT, 'ops', 'README.md'), 'utf8');
const KUSTOMIZATION = 'kustomization.yaml';
const FILES = readdirSync(FOLDER).filter((name) => name !== KUSTOMIZATION);
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const ALL = FILES.map(read).join('\n---\n');

/** The Secrets of the README, with their keys. */
const SECRETS = Object.fromEntries(
  [...README.matchAll(/^\| `(daybook[\w-]*)`.*? \| (`.+`) \|$/gm)].map(([, name = '', keys = '']) => [
    name,
    [...keys.matchAll(/`(\w+)`/g)].map(([, key = '']) => key),
  ]),
);
const faultsOf = (text: string) => faultsOfManifests(readManifests(text), SECRETS);

test('the manifests name only what is there, and their pods fit the image', () => {
  expect(SECRETS).toEqual({
    daybook: ['DAYBOOK_SECRET_KEY', 'DAYBOOK_STATE', 'DAYBOOK_STORE'],
    'daybook-s3': ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
  });
  expect(faultsOf(ALL)).toEqual([]);
  expect(
    readManifests(ALL)
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      .sort(),
  ).toEqual([
    'ConfigMap daybook',
    'Deployment daybook-api',
    'Deployment daybook-build',
    'Deployment daybook-ingest',
    'HorizontalPodAutoscaler daybook-api',
    'HorizontalPodAutoscaler daybook-ingest',
    'Ingress daybook',
    'Job daybook-migrate',
    'NetworkPolicy daybook',
    'PodDisruptionBudget daybook-api',
    'PodDisruptionBudget daybook-build',
    'PodDisruptionBudget daybook-ingest',
    'Service daybook-api',
    'Service daybook-ingest',
  ]);
});

test('the kustomization and the README have every file, and the image of the manifests', () => {
  const text = read(KUSTOMIZATION);
  const { resources, images } = parse(text.replace('# - ingress', '- ingress')) as {
    resources: string[];
    images: { name: string; newTag: string }[];
  };
  expect(resources.toSorted()).toEqual(FILES.toSorted());
  expect(text).toContain('\n  # - ingress.yaml\n');
  expect(images).toMatchObject([{ name: 'registry.acme.example/daybook', newTag: readImage().version }]);
  for (const name of FILES) expect(README).toContain(`| \`${name}\` |`);
  for (const [, component] of README.matchAll(/component=(\w+)/g))
    expect(ALL).toContain(`app.kubernetes.io/component: ${component}`);
});

const BROKEN: readonly [fault: string, from: string | RegExp, to: string][] = [
  ['Deployment daybook-api: It is there twice.', 'name: daybook-build', 'name: daybook-api'],
  [
    'daybook-api: Its selector chooses other pods, or none.',
    /(selector:\n {4}matchLabels: .+component: )api/,
    '$1apis',
  ],
  ['daybook-build: Either it or an autoscaler says how many pods there are.', '  replicas: 2\n', ''],
  [
    'daybook-api: Either it or an autoscaler says how many pods there are.',
    'spec:\n  selector:\n',
    'spec:\n  replicas: 2\n  selector:\n',
  ],
  ['daybook-build: It has fewer than two pods.', 'replicas: 2', 'replicas: 1'],
  [
    'daybook-api: It has no PodDisruptionBudget.',
    /(AlwaysAllow\n {2}selector:\n.+component: )api/,
    '$1build',
  ],
  [
    'daybook-api: It is for no Deployment, or for several.',
    /(AlwaysAllow\n {2}selector:\n.+component: )api/,
    '$1apis',
  ],
  ['daybook-api: It keeps machines from being emptied.', 'maxUnavailable: 1', 'maxUnavailable: 0'],
  [
    'daybook-api: An update takes pods away before there are others.',
    'maxUnavailable: 0',
    'maxUnavailable: 1',
  ],
  ['daybook-api: It is spread beside other pods.', /(labelSelector:\n.+component: )api/, '$1ingest'],
  [
    'daybook-api: Its Deployment is not there.',
    'kind: Deployment, name: daybook-api',
    'kind: Deployment, name: daybook',
  ],
  ['daybook-api: It has nothing to scale.', 'maxReplicas: 6', 'maxReplicas: 2'],
  [
    'daybook-api: It is for no Deployment, or for several.',
    /(selector: {.+), app.kubernetes.io\/component: api/,
    '$1',
  ],
  ['daybook-api: Its pods have no port web.', 'targetPort: http', 'targetPort: web'],
  ['daybook: It leaves pods out.', /(podSelector:\n.+name: )daybook/, '$1day'],
  ['daybook: No pod has a port web.', 'ports: [{ port: http }]', 'ports: [{ port: web }]'],
  [
    'daybook: There is no Service daybook-apis.',
    'service: { name: daybook-api,',
    'service: { name: daybook-apis,',
  ],
  [
    'daybook: The Service daybook-api has no port web.',
    'service: { name: daybook-api, port: { name: http',
    'service: { name: daybook-api, port: { name: web',
  ],
  ['daybook: /otlp/v1/logs goes to daybook-api.', 'path: /otlp,', 'path: /otel,'],
  ['daybook: /api/v1/sql goes to daybook-ingest.', 'path: /api/v1/events', 'path: /api/v1'],
  ['daybook: daybook.acme.example has no certificate.', 'hosts: [daybook.', 'hosts: [www.'],
  ['all: They have several images.', 'registry.acme.example/daybook:0.2.0', 'acme.example/daybook:0.2.0'],
  [
    'daybook-api: It keeps machines from being emptied.',
    /^ +# Pods that.+\n +unhealthyPodEvictionPolicy: AlwaysAllow\n/m,
    '',
  ],
  [
    'daybook-api: It is ended when it takes the memory that its settings allow.',
    'limits: { memory: 4Gi }',
    'limits: { memory: 3Gi }',
  ],
  ['daybook-api: It is ended when its disk has what its settings allow.', 'value: "6144"', 'value: "10240"'],
  ["daybook-api: Its image isn't of 0.2.0.", 'daybook:0.2.0', 'daybook:0.1.0'],
  [
    "daybook-api: The image registry.acme.example/daybook:latest isn't pinned to a release.",
    'daybook:0.2.0',
    'daybook:latest',
  ],
  [
    'daybook-api: It has a token of the cluster.',
    'automountServiceAccountToken: false',
    'automountServiceAccountToken: true',
  ],
  [
    'daybook-api: It has the addresses of Services as variables.',
    'enableServiceLinks: false',
    'enableServiceLinks: true',
  ],
  ['daybook-api: It may run as root.', 'runAsNonRoot: true', 'runAsNonRoot: false'],
  ["daybook-api: Its user isn't that of the image.", 'runAsUser: 1000', 'runAsUser: 1001'],
  ['daybook-api: It may call everything of the kernel.', 'type: RuntimeDefault', 'type: Unconfined'],
  [
    'daybook-api: It may gain privileges.',
    'allowPrivilegeEscalation: false',
    'allowPrivilegeEscalation: true',
  ],
  ['daybook-api: Its root can be written.', 'readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false'],
  ['daybook-api: It has capabilities.', 'drop: [ALL]', 'drop: [ALL], add: [NET_RAW]'],
  [
    'daybook-api: It mounts a volume that is not there, or leaves one out.',
    '- { name: data, emptyDir',
    '- { name: dat, emptyDir',
  ],
  ['daybook-api: It has no volume at /var/lib/daybook.', 'mountPath: /var/lib/daybook', 'mountPath: /data'],
  ['daybook-api: It has no volume at TMPDIR.', 'name: TMPDIR, value: /tmp', 'name: TMPDIR, value: /var/tmp'],
  ['daybook-api: It may fill the disk of its machine.', 'emptyDir: { sizeLimit: 64Mi }', 'emptyDir: {}'],
  ['daybook-api: Its command is build.', 'args: [serve]', 'args: [build]'],
  ['daybook-api: There is no command server.', 'args: [serve]', 'args: [server]'],
  ['daybook-api: There is no role web.', 'DAYBOOK_ROLE, value: api', 'DAYBOOK_ROLE, value: web'],
  ['daybook-migrate: It never ends.', 'restartPolicy: Never', 'restartPolicy: Always'],
  [
    'daybook-api: It is killed before it has ended its work.',
    'terminationGracePeriodSeconds: 95',
    'terminationGracePeriodSeconds: 60',
  ],
  [
    'daybook-api: It stops while proxies still send requests.',
    'command: [sleep, "5"]',
    'command: [sleep, "0"]',
  ],
  ['daybook-api: It has no port http at 8787.', 'containerPort: 8787', 'containerPort: 80'],
  ['daybook-api: Its livenessProbe asks /readyz.', /(livenessProbe:\n.+)healthz/, '$1readyz'],
  ['daybook-api: Its readinessProbe asks /healthz.', 'path: /readyz', 'path: /healthz'],
  ['daybook-api: The service has no /ready.', 'path: /readyz', 'path: /ready'],
  [
    'daybook-api: Its startupProbe asks at no port of it.',
    'path: /healthz, port: http',
    'path: /healthz, port: web',
  ],
  ['daybook-api: It has no ten minutes for an upgrade.', 'failureThreshold: 120', 'failureThreshold: 12'],
  ['daybook-api: It has no livenessProbe.', / +livenessProbe:(\n.+){3}\n/, ''],
  [
    'daybook-api: There is no ConfigMap settings.',
    'configMapRef: { name: daybook }',
    'configMapRef: { name: settings }',
  ],
  [
    "daybook-api: The README doesn't tell of the Secret keys.",
    'secretRef: { name: daybook }',
    'secretRef: { name: keys }',
  ],
  [
    'daybook-api: There is no setting DAYBOOK_PUBLICURL: docs/settings.md lists them all.',
    'DAYBOOK_PUBLIC_URL',
    'DAYBOOK_PUBLICURL',
  ],
  [
    'daybook-api: DAYBOOK_OBJECTS can\'t be "s4://acme-daybook/objects?region=eu-central-1": must be folder or s3://bucket/prefix?region=eu-central-1&endpoint=https://host.',
    's3://acme-daybook/objects',
    's4://acme-daybook/objects',
  ],
];

test.each(BROKEN)('a fault is found: %s', (fault, from, to) => {
  const broken = ALL.replace(from, to);
  expect(broken).not.toBe(ALL);
  expect(faultsOf(broken)).toContain(fault);
});

test('a member that is spelled wrong is a fault', () => {
  for (const name of [
    'readOnlyRootFilesystem',
    'livenessProbe',
    'terminationGracePeriodSeconds',
    'minReplicas',
    'runAsNonRoot',
  ]) {
    const broken = ALL.replace(`${name}:`, `${name}s:`);
    expect(() => faultsOf(broken), name).toThrow();
  }
});
