import {
  diskOf,
  faultsOfCommand,
  faultsOfSettings,
  faultsOfTag,
  mebibytes,
  memoryOf,
  readImage,
  servedPaths,
  stopSeconds,
  type Variables,
} from './kit-settings.js';
import type { PodSpec } from './manifests.js';

const ROLES = ['all', 'api', 'ingest', 'build'];

/** The secrets that the README tells to make, by name, with their keys. */
export type Secrets = Readonly<Record<string, readonly string[]>>;

interface PodOf {
  readonly kind: 'Deployment' | 'Job';
  readonly spec: PodSpec;
}

/** Where a pod doesn't fit the image, or names what isn't there. */
export function faultsOfPod(
  { kind, spec }: PodOf,
  configs: Readonly<Record<string, Variables>>,
  secrets: Secrets,
): string[] {
  const image = readImage();
  const [container, ...others] = spec.containers;
  if (container === undefined || others.length > 0) return ['It has not one container.'];
  const { securityContext: security, envFrom, env, args } = container;
  const variables: Record<string, string> = {};
  const faults: string[] = [];
  for (const source of envFrom) {
    if ('configMapRef' in source) {
      const data = configs[source.configMapRef.name];
      if (data === undefined) faults.push(`There is no ConfigMap ${source.configMapRef.name}.`);
      Object.assign(variables, data);
    } else {
      const keys = secrets[source.secretRef.name];
      if (keys === undefined) faults.push(`The README doesn't tell of the Secret ${source.secretRef.name}.`);
      for (const key of keys ?? []) variables[key] ??= valueOfSecret(key);
    }
  }
  for (const { name, value } of env) variables[name] = value;
  const sleep = Number(container.lifecycle?.preStop.exec.command.join(' ').replace(/^sleep /, '') ?? 0);
  const serves = kind === 'Deployment';
  const sizeOf = (volume?: string) =>
    spec.volumes.find(({ name }) => name === volume)?.emptyDir.sizeLimit ?? '';
  const mounts = (path: string) => container.volumeMounts.find(({ mountPath }) => mountPath === path)?.name;
  const holds: readonly [boolean, string][] = [
    [container.image.endsWith(`/daybook:${image.version}`), `Its image isn't of ${image.version}.`],
    [spec.automountServiceAccountToken === false, 'It has a token of the cluster.'],
    [!spec.enableServiceLinks, 'It has the addresses of Services as variables.'],
    [spec.securityContext.runAsNonRoot, 'It may run as root.'],
    [
      [
        spec.securityContext.runAsUser,
        spec.securityContext.runAsGroup,
        spec.securityContext.fsGroup,
      ].join() === [image.user, image.group, image.group].join(),
      "Its user isn't that of the image.",
    ],
    [spec.securityContext.seccompProfile.type === 'RuntimeDefault', 'It may call everything of the kernel.'],
    [!security.allowPrivilegeEscalation && security.privileged !== true, 'It may gain privileges.'],
    [security.readOnlyRootFilesystem, 'Its root can be written.'],
    [
      security.capabilities.drop.join() === 'ALL' && security.capabilities.add === undefined,
      'It has capabilities.',
    ],
    [
      container.volumeMounts.every(({ name }) => spec.volumes.some((volume) => volume.name === name)) &&
        spec.volumes.every(({ name }) => container.volumeMounts.some((mount) => mount.name === name)),
      'It mounts a volume that is not there, or leaves one out.',
    ],
    [mounts(image.data) !== undefined, `It has no volume at ${image.data}.`],
    [variables.TMPDIR !== undefined && mounts(variables.TMPDIR) !== undefined, 'It has no volume at TMPDIR.'],
    [
      spec.volumes.every(({ emptyDir }) => emptyDir.sizeLimit !== undefined),
      'It may fill the disk of its machine.',
    ],
    [
      !serves || mebibytes(container.resources.limits.memory) >= memoryOf(variables),
      'It is ended when it takes the memory that its settings allow.',
    ],
    [
      !serves || mebibytes(sizeOf(mounts(image.data))) >= diskOf(variables),
      'It is ended when its disk has what its settings allow.',
    ],
    [serves === (args[0] === 'serve') && (serves || args[0] === 'migrate'), `Its command is ${args[0]}.`],
    [!serves || ROLES.includes(variables.DAYBOOK_ROLE ?? ''), `There is no role ${variables.DAYBOOK_ROLE}.`],
    [serves || spec.restartPolicy === 'Never', 'It never ends.'],
    [
      !serves || (spec.terminationGracePeriodSeconds ?? 30) >= sleep + stopSeconds() + 10,
      'It is killed before it has ended its work.',
    ],
    [!serves || sleep > 0, 'It stops while proxies still send requests.'],
    [
      !serves ||
        container.ports.some(
          ({ name, containerPort }) => name === 'http' && `${containerPort}` === image.port,
        ),
      `It has no port http at ${image.port}.`,
    ],
  ];
  const probes = serves ? faultsOfProbes(container, variables.DAYBOOK_ROLE === 'ingest') : [];
  return [
    ...faults,
    ...holds.filter(([isSo]) => !isSo).map(([, fault]) => fault),
    ...probes,
    ...faultsOfTag(container.image),
    ...faultsOfCommand(args),
    ...faultsOfSettings(variables),
  ];
}

/** A value that the setting in a secret could have. */
function valueOfSecret(key: string): string {
  if (key === 'DAYBOOK_STATE') return 'postgres://daybook:secret@postgres.acme.example:5432/daybook';
  if (key === 'DAYBOOK_STORE') return 'clickhouse://daybook:secret@clickhouse.acme.example:8123/daybook';
  return '0f'.repeat(24);
}

/**
 * A process that answers is alive, even if its stores don't: it isn't started again for them. Only `api` is taken out of a Service while
 * a store is down.
 */
function faultsOfProbes(container: PodSpec['containers'][number], isIngest: boolean): string[] {
  const faults: string[] = [];
  const paths = {
    startupProbe: '/healthz',
    livenessProbe: '/healthz',
    readinessProbe: isIngest ? '/healthz' : '/readyz',
  } as const;
  for (const [name, path] of Object.entries(paths)) {
    const probe = container[name as keyof typeof paths];
    if (probe === undefined) {
      faults.push(`It has no ${name}.`);
      continue;
    }
    if (probe.httpGet.path !== path) faults.push(`Its ${name} asks ${probe.httpGet.path}.`);
    if (!servedPaths().includes(probe.httpGet.path)) faults.push(`The service has no ${probe.httpGet.path}.`);
    if (!container.ports.some((port) => port.name === probe.httpGet.port))
      faults.push(`Its ${name} asks at no port of it.`);
  }
  const { periodSeconds = 10, failureThreshold = 3 } = container.startupProbe ?? {};
  if (periodSeconds * failureThreshold < 600) faults.push('It has no ten minutes for an upgrade.');
  return faults;
}
