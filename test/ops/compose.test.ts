import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { faultsOfCompose, readCompose, requiredBy } from './compose-file.js';

const FOLDER = join(PACKAGE_ROOT, 'ops');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const NODE = read('compose.yaml');
const CLUSTER = read('compose.cluster.yaml');

test('the Compose files name only what is there, and their nodes fit the image', () => {
  expect(faultsOfCompose(NODE, FOLDER)).toEqual([]);
  expect(faultsOfCompose(CLUSTER, FOLDER)).toEqual([]);
});

test('the command in the README makes every secret that the cluster asks for, and no other', () => {
  const [, names = ''] = /for name in ([A-Z0-9_ ]+); do/.exec(read('README.md')) ?? [];
  expect(names.split(' ').sort()).toEqual([...requiredBy(CLUSTER)].sort());
  expect([...requiredBy(NODE)]).toEqual([]);
});

test('the files of ClickHouse and Keeper name the services and each other', () => {
  const { services } = readCompose(CLUSTER);
  const [server, keeper] = [read('clickhouse/server.xml'), read('clickhouse/keeper.xml')];
  const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, one]) => one ?? '');
  const replicas = all(server, /<replica><host>(.+?)<\/host><port>9000<\/port><\/replica>/g);
  const [node] = all(services['daybook-1']?.environment.DAYBOOK_STORE ?? '', /@(.+)\/daybook/g);
  expect(node?.split(',')).toEqual(replicas.map((host) => `${host}:8123`));
  for (const replica of replicas) {
    const { hostname, environment, volumes } = services[replica] ?? {};
    expect(hostname).toBe(replica);
    expect(environment?.REPLICA).toBe(replica);
    expect(volumes?.some((one) => one.startsWith('./clickhouse/server.xml:'))).toBe(true);
    for (const variable of all(server, /from_env="(\w+)"/g)) expect(environment).toHaveProperty(variable);
  }
  const [cluster] = all(server, /<remote_servers>\s*<(\w+)>/g);
  expect(services['daybook-1']?.environment.DAYBOOK_STORE).toMatch(new RegExp(`\\?cluster=${cluster}$`));
  const [tcp] = all(keeper, /<tcp_port>(\d+)</g);
  expect(all(server, /<node><host>(.+?)<\/host><port>\d+</g)).toEqual(['keeper']);
  expect(all(server, /<node>.*<port>(\d+)</g)).toEqual([tcp]);
  expect(all(keeper, /<hostname>(.+?)</g)).toEqual(['keeper']);
  const [http] = all(keeper, /<http_control>\s*<port>(\d+)</g);
  const [path] = all(keeper, /<readiness><endpoint>(.+?)</g);
  expect(services.keeper?.healthcheck?.test).toContain(`http://127.0.0.1:${http}${path}`);
});

test('the tables that ClickHouse writes about itself do not grow without end', () => {
  const server = read('clickhouse/server.xml');
  for (const name of GROWING)
    expect(server, name).toMatch(new RegExp(`<${name} remove="1"/>|<${name}><ttl>`));
});

/** Those that the configuration of ClickHouse's image has without a TTL, and that are written to in normal operation. */
const GROWING = [
  'asynchronous_metric_log',
  'error_log',
  'latency_log',
  'metric_log',
  'part_log',
  'query_log',
  'query_metric_log',
  'query_views_log',
  'text_log',
  'trace_log',
];

const BROKEN: readonly [fault: string, from: string | RegExp, to: string][] = [
  [
    'daybook-1: It waits for the end of migrate, which is started again.',
    'restart: "no"',
    'restart: unless-stopped',
  ],
  ["migrate: It depends on postgre, which isn't there.", /^( {6})postgres: (.+healthy)/m, '$1postgre: $2'],
  ['clickhouse-1: It waits for the health of keeper, which has no check.', /test: .+9182.+\n +/, ''],
  [
    'clickhouse-1: There is no condition service_well.',
    'keeper: { condition: service_healthy }',
    'keeper: { condition: service_well }',
  ],
  ['daybook-2: There is no volume data2.', '"data-2:/var', '"data2:/var'],
  ['Nothing uses the volume data-2.', '"data-2:/var', '"data-1:/var'],
  ['postgres: There is no network store.', 'networks: [stores]\n    shm', 'networks: [store]\n    shm'],
  ['daybook-1: postgres is in another network.', 'networks: [outside, stores]', 'networks: [outside]'],
  ['Nothing is in the network outside.', 'networks: [outside, stores]', 'networks: [stores]'],
  [
    'keeper: There is no file ./clickhouse/keepers.xml.',
    './clickhouse/keeper.xml',
    './clickhouse/keepers.xml',
  ],
  ['keeper: It may write to ./clickhouse/keeper.xml.', 'keeper.xml:ro', 'keeper.xml'],
  ['daybook-3: clickhouse-3 is no service.', 'clickhouse-2:8123/daybook', 'clickhouse-3:8123/daybook'],
  [
    "daybook-3: s3 doesn't listen on 9000.",
    'lake?region=us-east-1&endpoint=http://s3:8333',
    'lake?region=us-east-1&endpoint=http://s3:9000',
  ],
  ["daybook-3: daybook-3 doesn't wait for s3.", /^ {6}s3: .+healthy.+\n/m, ''],
  ['Two services publish the same port.', '127.0.0.1:8788:', '127.0.0.1:8787:'],
  ['daybook-2: It publishes more than 8787 on this machine.', '"127.0.0.1:8788:8787"', '"8788:8787"'],
  [
    'POSTGRES_PASSWORD is a secret and has a default, or may be missing.',
    'POSTGRES_PASSWORD:?is in ops/.env',
    'POSTGRES_PASSWORD:-daybook',
  ],
  [
    "s3: The image chrislusf/seaweedfs:latest isn't pinned to a release.",
    'seaweedfs:4.47',
    'seaweedfs:latest',
  ],
  ["daybook-1: Its image isn't daybook:0.2.0.", 'image: daybook:0.2.0', 'image: daybook:0.1.0'],
  [
    's3: It may gain privileges.',
    /(seaweedfs.+\n.+\n.+\n.+\n {4}security_opt: \[)"no-new-privileges:true"/,
    '$1',
  ],
  ['keeper: Its log grows without end.', /(mem_limit: 1g\n) +logging: .+(\n.+\n.+\n.+keeper\.xml)/, '$1$2'],
  [
    's3: It has less than half a minute to stop.',
    /stop_grace_period: 30s(\n.+\n +mem_limit: 2g)/,
    'stop_grace_period: 5s$1',
  ],
  [
    'daybook-1: It is ended when it takes the memory that its settings allow.',
    'mem_limit: 4g',
    'mem_limit: 3g',
  ],
  ["daybook-1: Its user isn't 1000:1000.", 'user: "1000:1000"', 'user: node'],
  ['daybook-1: Its root can be written.', 'read_only: true', 'read_only: false'],
  ['daybook-1: It keeps capabilities.', 'cap_drop: [ALL]', 'cap_drop: [NET_RAW]'],
  ['daybook-1: It has no /tmp.', '"/tmp:size=64m"', '"/run:size=64m"'],
  ['daybook-1: It has no volume at /var/lib/daybook.', '"data-1:/var/lib/daybook"', '"data-1:/data"'],
  [
    'daybook-1: It is killed before it has ended its work.',
    'stop_grace_period: 90s',
    'stop_grace_period: 10s',
  ],
  ["daybook-1: Its health check isn't that of the image.", 'dist/cli.js, health', 'dist/cli.js, status'],
  ['daybook-1: Its image is not built from here.', 'build: ..', 'build: .'],
  ['migrate: There is no command migrates.', 'command: [migrate]', 'command: [migrates]'],
  [
    'daybook-1: The command serve has no option --roles.',
    'command: [serve]',
    'command: [serve, --roles, all]',
  ],
  [
    'daybook-1: There is no setting DAYBOOK_SECRETKEY: docs/settings.md lists them all.',
    'DAYBOOK_SECRET_KEY: ',
    'DAYBOOK_SECRETKEY: ',
  ],
  [
    'daybook-1: DAYBOOK_LOG_LEVEL can\'t be "loud": must be fatal or error or warn or info or debug or trace or silent.',
    'DAYBOOK_LOG_LEVEL:-info',
    'DAYBOOK_LOG_LEVEL:-loud',
  ],
];

test.each(BROKEN)('a fault is found: %s', (fault, from, to) => {
  const broken = CLUSTER.replace(from, to);
  expect(broken).not.toBe(CLUSTER);
  expect(faultsOfCompose(broken, FOLDER)).toContain(fault);
});

test('a member that Compose does not know is a fault', () => {
  const refuses = (from: string, to: string) => {
    const broken = CLUSTER.replace(from, to);
    expect(broken).not.toBe(CLUSTER);
    expect(() => faultsOfCompose(broken, FOLDER)).toThrow(to.replace(/:.*/, '').trim());
  };
  refuses('read_only: true', 'readonly: true');
  refuses('start_period: 2m', 'start_time: 2m');
});
