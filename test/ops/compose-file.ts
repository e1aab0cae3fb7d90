import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  faultsOfCommand,
  faultsOfSettings,
  faultsOfTag,
  mebibytes,
  memoryOf,
  readImage,
  stopSeconds,
  type Variables,
} from './kit-settings.js';

const Healthcheck = z.strictObject({
  test: z.array(z.string()).optional(),
  disable: z.boolean().optional(),
  interval: z.string().optional(),
  timeout: z.string().optional(),
  start_period: z.string().optional(),
  start_interval: z.string().optional(),
});

/** The part of Compose's format that kits use: a member that is spelled wrong is a fault. */
const Service = z.strictObject({
  image: z.string(),
  build: z.string().optional(),
  entrypoint: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  restart: z.enum(['no', 'unless-stopped']),
  stop_grace_period: z.string().optional(),
  user: z.string().optional(),
  hostname: z.string().optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()),
  tmpfs: z.array(z.string()).optional(),
  shm_size: z.string().optional(),
  mem_limit: z.string(),
  logging: z.strictObject({ driver: z.string() }).optional(),
  ulimits: z.record(z.string(), z.unknown()).optional(),
  networks: z.array(z.string()).optional(),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  healthcheck: Healthcheck.optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.string() })).default({}),
});

const File = z
  .looseObject({
    name: z.string(),
    services: z.record(z.string(), Service),
    networks: z.record(z.string(), z.unknown()).default({}),
    volumes: z.record(z.string(), z.unknown()).default({}),
  })
  .refine(
    (file) => Object.keys(file).every((key) => /^(name|services|networks|volumes|x-[a-z]+)$/.test(key)),
    'has a member that Compose does not know',
  );

export type ComposeFile = z.infer<typeof File>;
export type ComposeService = z.infer<typeof Service>;

/** Reads the text of a Compose file, with what its anchors repeat. */
export const readCompose = (text: string): ComposeFile => File.parse(parse(text, { merge: true }));

const VARIABLE = /\$\{(\w+)(:[-?])?([^{}]*)\}/g;

/** A text with its variables: those without a default get a value such as `openssl rand -hex 24` gives. */
const filled = (text: string) =>
  text.replaceAll(VARIABLE, (_, _name, kind, rest) => (kind === ':-' ? rest : '0f'.repeat(24)));

/** The variables that somebody has to give. */
export const requiredBy = (text: string) =>
  new Set([...text.matchAll(VARIABLE)].filter(([, , kind]) => kind === ':?').map(([, name]) => name ?? ''));

const isNode = ({ image }: ComposeService) => image.startsWith('daybook:');
const settingsOf = ({ environment }: ComposeService): Variables =>
  Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(value)]));

/** The faults of a Compose file that is in this folder, as sentences. */
export function faultsOfCompose(text: string, folder: string): string[] {
  const file = readCompose(text);
  const faults = Object.entries(file.services).flatMap(([name, service]) =>
    [
      ...faultsOfTag(service.image),
      ...faultsOfReferences(service, file, folder),
      ...faultsOfAddresses(name, service, file),
      ...(isNode(service) ? faultsOfNode(service, folder) : []),
      ...(service.security_opt.includes('no-new-privileges:true') ? [] : ['It may gain privileges.']),
      ...(service.logging?.driver === 'local' ? [] : ['Its log grows without end.']),
      ...(seconds(service.stop_grace_period) >= 30 ? [] : ['It has less than half a minute to stop.']),
    ].map((fault) => `${name}: ${fault}`),
  );
  const used = Object.values(file.services);
  const isUsed = (volume: string) =>
    used.some(({ volumes }) => volumes.some((one) => one.startsWith(`${volume}:`)));
  for (const volume of Object.keys(file.volumes))
    if (!isUsed(volume)) faults.push(`Nothing uses the volume ${volume}.`);
  for (const network of Object.keys(file.networks))
    if (!used.some(({ networks }) => networks?.includes(network)))
      faults.push(`Nothing is in the network ${network}.`);
  const ports = used.flatMap(({ ports }) => ports.map((port) => port.replace(/:\d+$/, '')));
  if (new Set(ports).size < ports.length) faults.push('Two services publish the same port.');
  for (const [, name = '', kind] of text.matchAll(VARIABLE))
    if (/PASSWORD|SECRET|KEY/.test(name) && kind !== ':?')
      faults.push(`${name} is a secret and has a default, or may be missing.`);
  return faults;
}

/** What a service names and the file doesn't have. */
function faultsOfReferences(
  service: ComposeService,
  { services, networks, volumes }: ComposeFile,
  folder: string,
): string[] {
  const faults: string[] = [];
  for (const [name, { condition }] of Object.entries(service.depends_on)) {
    const other = services[name];
    if (other === undefined) faults.push(`It depends on ${name}, which isn't there.`);
    else if (condition === 'service_healthy') {
      if (other.healthcheck?.test === undefined)
        faults.push(`It waits for the health of ${name}, which has no check.`);
    } else if (condition === 'service_completed_successfully') {
      if (other.restart !== 'no') faults.push(`It waits for the end of ${name}, which is started again.`);
    } else faults.push(`There is no condition ${condition}.`);
  }
  for (const network of service.networks ?? [])
    if (!(network in networks)) faults.push(`There is no network ${network}.`);
  for (const volume of service.volumes) {
    const [source = '', target = '', mode] = volume.split(':');
    if (!target.startsWith('/')) faults.push(`${volume} has no path.`);
    if (source.startsWith('.')) {
      if (!existsSync(join(folder, source))) faults.push(`There is no file ${source}.`);
      if (mode !== 'ro') faults.push(`It may write to ${source}.`);
    } else if (!(source in volumes)) faults.push(`There is no volume ${source}.`);
  }
  const isChecked = service.healthcheck?.test?.[0] === 'CMD' || service.healthcheck?.disable === true;
  if (!isChecked) faults.push('It has no health check.');
  if (service.healthcheck?.disable === true && service.restart !== 'no')
    faults.push('It runs without a health check.');
  return faults;
}

/** The hosts and ports in its addresses, such as `http://s3:8333` and `clickhouse://user@one:8123,two:8123/database`. */
function* hostsIn(variables: Variables) {
  for (const value of Object.values(variables))
    for (const [, hosts = ''] of value.matchAll(/\w+:\/\/(?:[^@/?]*@)?([\w.,:-]+:\d+)/g))
      for (const host of hosts.split(',')) yield host.split(':') as [string, string];
}

/** The ports of servers that their health checks don't name. */
const PORTS: Readonly<Record<string, string>> = { postgres: '5432' };

/** Addresses that lead to no service, or not to its port. */
function faultsOfAddresses(name: string, service: ComposeService, { services }: ComposeFile): string[] {
  const faults: string[] = [];
  for (const [host, port] of hostsIn(settingsOf(service))) {
    const other = services[host];
    if (other === undefined) {
      faults.push(`${host} is no service.`);
      continue;
    }
    const isNear = service.networks?.some((network) => other.networks?.includes(network)) ?? false;
    if (!isNear) faults.push(`${host} is in another network.`);
    const [image = ''] = other.image.split(':');
    if (PORTS[image] !== port && !other.healthcheck?.test?.some((word) => word.includes(`:${port}/`)))
      faults.push(`${host} doesn't listen on ${port}.`);
    const waits = Object.keys(service.depends_on).flatMap((one) => [
      one,
      ...Object.keys(services[one]?.depends_on ?? {}),
    ]);
    if (!waits.includes(host)) faults.push(`${name} doesn't wait for ${host}.`);
  }
  return faults;
}

/** `90s` or `10m` in seconds. */
const seconds = (text = '') =>
  text.endsWith('m') ? 60 * Number(text.slice(0, -1)) : Number(text.slice(0, -1));

/** Where a node of Daybook doesn't fit its image. */
function faultsOfNode(service: ComposeService, folder: string): string[] {
  const image = readImage();
  const holds: readonly [boolean, string][] = [
    [service.image === `daybook:${image.version}`, `Its image isn't daybook:${image.version}.`],
    [existsSync(join(folder, service.build ?? '', 'Dockerfile')), 'Its image is not built from here.'],
    [service.user === `${image.user}:${image.group}`, `Its user isn't ${image.user}:${image.group}.`],
    [service.read_only === true, 'Its root can be written.'],
    [service.cap_drop?.join() === 'ALL', 'It keeps capabilities.'],
    [service.tmpfs?.some((one) => one.startsWith('/tmp:size=')) ?? false, 'It has no /tmp.'],
    [
      service.volumes.some((one) => one.split(':')[1] === image.data && !one.startsWith('.')),
      `It has no volume at ${image.data}.`,
    ],
    [seconds(service.stop_grace_period) > stopSeconds(), 'It is killed before it has ended its work.'],
    [
      mebibytes(service.mem_limit) >= memoryOf(settingsOf(service)),
      'It is ended when it takes the memory that its settings allow.',
    ],
    [
      service.ports.every((port) => /^127\.0\.0\.1:/.test(port) && port.endsWith(`:${image.port}`)),
      `It publishes more than ${image.port} on this machine.`,
    ],
    [
      service.healthcheck?.disable === true ||
        service.healthcheck?.test?.slice(1).join() === image.health.join(),
      "Its health check isn't that of the image.",
    ],
  ];
  return [
    ...holds.filter(([isSo]) => !isSo).map(([, fault]) => fault),
    ...faultsOfCommand(service.command ?? []),
    ...faultsOfSettings(settingsOf(service)),
  ];
}

/** The folder of a file in the repository. */
export const folderOf = (root: string, name: string) => dirname(join(root, name));
