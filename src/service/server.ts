import { once } from 'node:events';
import { Server } from 'node:https';
import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Cause } from '../aggregate/build-run.js';
import { Schedule } from '../aggregate/build-schedule.js';
import { Alarm } from '../alerts/alarm.js';
import { trustedForAddresses } from '../api/public-url.js';
import { SecretKey } from '../controls/secret-key.js';
import { DATABASE } from '../disk/data-files.js';
import { isOpenToAll, makeFolder } from '../disk/folder.js';
import { VERSION } from '../disk/package-root.js';
import { requireFitDisk } from '../disk/refusals.js';
import { codeOf, MayPass, UsageError } from '../exit.js';
import { Inbox } from '../ingest/inbox.js';
import type { Watcher } from '../ingest/settle-schedule.js';
import { Lake } from '../lake/data-lake.js';
import { keepTidy } from '../lake/fetched-lake.js';
import { updatePrices } from '../money/update-prices.js';
import { type Config, placesOf } from '../settings/config.js';
import { does } from '../settings/setting-list.js';
import { finishErasuresIn } from '../socket/commands.js';
import { isServed, serveControl } from '../socket/control-socket.js';
import { openStore } from '../socket/open-store.js';
import { damagedLogs } from '../store/database-file.js';
import { Node } from '../store/state/node.js';
import type { Store } from '../store/store.js';
import { pullAll } from '../vendors/pull-reports.js';
import { buildApp } from './app.js';
import { Metrics } from './prometheus.js';
import { keepRenewed } from './served-certificate.js';

/** A running service. */
export interface Serving {
  readonly app: FastifyInstance;
  readonly store: Store;
  /** The address that it listens on, such as `http://127.0.0.1:8787`. */
  readonly url: string;
  /** Looks for a renewed certificate at once. */
  readonly renewCertificate: () => void;
  /** Accepts no more requests, finishes those under way, a build and commands too, and closes the database. */
  readonly stop: () => Promise<void>;
}

/**
 * Opens the database, passes it to `prepare`, and serves until stopped: HTTP, and the commands of other processes. Throws a UsageError
 * if the port is in use, or if another server has the data folder.
 */
export async function serve(
  config: Config,
  clock: () => number,
  prepare: (store: Store) => Promise<void> = async () => {},
): Promise<Serving> {
  let app: FastifyInstance | undefined;
  if (config.role !== 'all' && config.postgres === undefined)
    throw new UsageError(
      `A node with the role ${config.role} does a part of the work of several: set DAYBOOK_STATE too, or leave the role out.`,
    );
  makeFolder(config.data);
  const hasModes = requireFitDisk(config.data);
  const opened = await openStore(config, clock, () => isServed(config.data), {
    isService: true,
    mishaps: {
      broken: (err) => app?.log.error({ err }, 'the database failed and is opened again'),
      unopened: (err) =>
        app?.log.error(
          { err },
          'the database cannot be opened again: that is tried every second until it can',
        ),
      reopened: () => app?.log.warn('the database is open again'),
    },
  });
  if (opened === undefined) {
    throw new MayPass(
      `Another "daybook serve" uses the data folder ${config.data}: stop it first, or set DAYBOOK_DATA to another folder.`,
    );
  }
  const metrics = new Metrics(clock);
  const store = metrics.counting(opened);
  let receiving: Inbox | undefined;
  let node: Node | undefined;
  try {
    const inbox = Inbox.open(config, clock);
    receiving = inbox;
    const { role } = config;
    node =
      store.shared &&
      new Node(store.shared, { role, version: VERSION }, (err) =>
        app?.log.error({ err }, 'could not tell other nodes that this one lives'),
      );
    await node?.start();
    const serving = buildApp({ store, config, clock, inbox, ...(node && { node }) }, { logs: true, metrics });
    app = serving;
    // The caller prints the address. The port is opened before any long work, so that a failure shows at once.
    serving.log.level = 'silent';
    const url = await serving.listen({ host: await possibleHost(config.host), port: config.port });
    serving.log.level = config.logLevel;
    const { server } = serving;
    const renewCertificate =
      config.tls !== undefined && server instanceof Server
        ? keepRenewed(server, config.tls, serving.log)
        : () => {};
    // The permissions may be intentional, so they aren't changed.
    if (!hasModes)
      serving.log.warn(
        'The disk of the data folder has no permissions (chmod is refused): whoever can use the disk can read the data.',
      );
    else if (isOpenToAll(config.data, [DATABASE, 'secret.key', 'inbox', 'objects']))
      serving.log.warn(
        `Every user of this machine can read the data folder: run "chmod -R go= ${config.data}" to change that.`,
      );
    const trusted = trustedForAddresses(config);
    // A warning with a provider: it sends people back only to addresses that it knows, but the operator should know which ones those are.
    if (trusted !== undefined) serving.log[config.oidc === undefined ? 'info' : 'warn'](trusted);
    const own = placesOf(config).flatMap(([name, place]) => (place === undefined ? [name] : []));
    if (node !== undefined && own.length > 0 && !(await node.isAlone()))
      serving.log.warn(
        `Other nodes run too, and can't reach what is in this node's data folder: set ${new Intl.ListFormat('en').format(own)} to a bucket.`,
      );
    for (const name of damagedLogs(config.data))
      serving.log.warn(
        `The end of the database's log could not be read: the log as it was is kept as ${name} in the data folder until you delete it.`,
      );
    await prepare(store);
    // A node that only answers or receives uses the files of those that build.
    if (store.shared !== undefined && does(role, 'build'))
      for (const sentence of await store.refresh()) serving.log.warn(sentence);
    const lake = new Lake(config, clock);
    const settle = () => inbox.drain(store).then(() => inbox.setAside);
    const stopping = new AbortController();
    const control = await serveControl({
      stopping: stopping.signal,
      store,
      config,
      lake,
      settle,
      setAside: async () => inbox.setAside,
      afterwards: (work) => {
        work.catch((err) => serving.log.error({ err }, 'could not publish days'));
      },
      clock,
      app: serving,
      url: config.publicUrl ?? url,
    });
    // What waits in the data folder is settled by the node that has it; what waits in a bucket, by those that build.
    const watcher = {
      failed: (err) => serving.log.error({ err }, 'could not settle waiting events'),
      setAside: ({ path, reason }) =>
        serving.log.error({ path }, `set aside in the inbox until it can be settled: ${reason}`),
    } satisfies Watcher;
    if (does(role, config.inbox === undefined ? 'ingest' : 'build')) inbox.start(store, watcher);
    // Publishes days that aren't in the lake, for example because they were built before the lake existed.
    if (does(role, 'build'))
      lake.publish(store, []).catch((err) => serving.log.error({ err }, 'could not publish days'));
    const tidying = keepTidy(config, (err) =>
      serving.log.error({ err }, 'could not remove files that the lake in the bucket no longer has'),
    );
    const finishErasures = () => finishErasuresIn({ store, config, lake, settle, clock });
    finishErasures().then(
      (erasures) => erasures > 0 && serving.log.info({ erasures }, 'interrupted erasures are finished'),
      (err) =>
        serving.log.error(
          { err },
          'an interrupted erasure could not be finished: the next build tries again',
        ),
    );
    const key = new SecretKey(config);
    const beforeBuild = async (cause: Cause) => {
      await finishErasures();
      await inbox.drain(store);
      const pulls = { store, config, key, clock, stopping: stopping.signal };
      await store.asOnly('pulls', () => pullAll(pulls, cause === 'nightly', serving.log));
      if (config.pricesUpdate === 'daily' && cause === 'nightly')
        await store.asOnly('prices', async () => {
          // What another node fetched earlier.
          await store.refresh();
          await updatePrices(config, clock(), serving.log, stopping.signal);
        });
    };
    const alarm = new Alarm({ store, config, key, app: serving, clock }, serving.log);
    const schedule = new Schedule(
      ...([store, clock, serving.log, beforeBuild] as const),
      { retentionDays: config.retentionDays, publish: (days) => lake.publish(store, days) },
      () => void alarm.check(),
    );
    if (does(role, 'build')) {
      alarm.start();
      if (config.buildAt !== undefined) schedule.start(config.buildAt);
    }
    const stop = async () => {
      stopping.abort(new UsageError('The service stops: run the command again to read the other files.'));
      // Connections that still haven't finished their request or answer by then are cut off.
      const limit = setTimeout(() => serving.server.closeAllConnections(), config.timeoutSeconds * 1000);
      const closed = once(control, 'close');
      control.close();
      await serving.close();
      clearTimeout(limit);
      await closed;
      tidying.stop();
      const published = lake.close();
      await schedule.stop();
      await alarm.stop();
      await published;
      await inbox.close();
      await node
        ?.stop()
        .catch((err) => serving.log.warn({ err }, 'other nodes learn later that this one ended'));
      await store.close();
    };
    return { app: serving, store, url, renewCertificate, stop };
  } catch (error) {
    await app?.close();
    await receiving?.close();
    await node?.stop().catch(() => undefined);
    await store.close();
    // An error with a path is about a file of the data folder.
    const code = error instanceof Error && 'path' in error ? '' : codeOf(error);
    if (code === 'EADDRINUSE') {
      throw new MayPass(
        `Port ${config.port} of ${config.host} is in use: stop the program that uses it, or choose another port with --port or DAYBOOK_PORT.`,
      );
    }
    // A network that isn't up yet has no address.
    const Cause = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code) ? MayPass : UsageError;
    if (code === 'EACCES' || Cause === MayPass) {
      throw new Cause(
        `Daybook can't listen on ${config.host}, port ${config.port} (${code}): choose others with --host and --port.`,
      );
    }
    throw error;
  }
}

/** The address to listen on: all of IPv4 instead of all of both where the kernel has no IPv6. */
async function possibleHost(host: string): Promise<string> {
  if (host !== '::') return host;
  const server = createServer().listen(0, host);
  try {
    await once(server, 'listening');
    return host;
  } catch (error) {
    if (!['EAFNOSUPPORT', 'EADDRNOTAVAIL'].includes(codeOf(error))) throw error;
    return '0.0.0.0';
  } finally {
    server.close();
  }
}
