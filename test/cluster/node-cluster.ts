import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { Ledger, Sender, type SentBody } from '../faults/sender.js';
import { RATE_CARD } from '../laws/law.js';
import { randomOf } from '../random.js';
import { until, waitingIn } from '../service.js';
import type { AtEnd } from '../world.js';
import { DaybookNode, type SettingsOf } from './node.js';
import { Twins } from './twins.js';

/** What every node has. */
const SETTINGS = {
  DAYBOOK_RATE_CARD: RATE_CARD,
  DAYBOOK_BUILD_AT: 'off',
  DAYBOOK_LOG_LEVEL: 'warn',
  DAYBOOK_RATE_LIMIT: '0',
  DAYBOOK_THREADS: '1',
};

const MINUTE_MS = 60_000;
/** How far clocks are set. */
const CLOCKS_MS = [-10 * MINUTE_MS, 90 * MINUTE_MS, 0];

/** A ledger that keeps the bodies, so that another node can get the same ones. */
export class BodyLedger extends Ledger {
  readonly bodies: SentBody[] = [];

  override body(): SentBody {
    const body = super.body();
    this.bodies.push(body);
    return body;
  }
}

export interface ClusterOptions {
  readonly nodes: number;
  readonly seed: number;
  /** The settings that say which stores a node has. */
  readonly settingsOf: SettingsOf;
  /** How long a node sleeps at most. One of several does while the others go on. */
  readonly freezeMs?: number;
  /** How long senders rest at most after a body. */
  readonly restMs?: number;
  /** How much that was acknowledged waits where all nodes find it. */
  readonly waiting?: () => number;
  /** What else goes wrong, with the stores. */
  readonly more?: Readonly<Record<string, () => Promise<void>>>;
}

/** Equal nodes on the same stores, which are sent events while something goes wrong all the time. */
export class NodeCluster {
  /** The first organization sends each event once, the second until it is acknowledged by some node, and some again. */
  readonly ledgers: readonly BodyLedger[];
  /** How often what was done. */
  readonly disturbed: Record<string, number> = {};
  private readonly random: () => number;
  private senders: readonly Sender[] = [];
  private asleep: Promise<void> | undefined;
  private building: Promise<unknown> = Promise.resolve();
  private isBuilding = false;
  /** Asks all the time whether answers are right. */
  twins: Twins | undefined;

  private constructor(
    readonly nodes: readonly DaybookNode[],
    private readonly options: ClusterOptions,
  ) {
    this.random = randomOf(options.seed);
    this.ledgers = ['acme', 'globex'].map(
      (orgId, index) => new BodyLedger(orgId, randomOf(options.seed + 1 + index)),
    );
  }

  /** Starts the nodes one after the other, and sends events to all of them. */
  static async start(options: ClusterOptions, atEnd: AtEnd = onTestFinished): Promise<NodeCluster> {
    const nodes: DaybookNode[] = [];
    for (let number = 0; number < options.nodes; number += 1)
      nodes.push(
        await DaybookNode.create(
          async (wayTo) => ({ ...SETTINGS, ...(await options.settingsOf(wayTo)) }),
          atEnd,
        ),
      );
    const cluster = new NodeCluster(nodes, options);
    const keys: string[] = [];
    for (const { orgId } of cluster.ledgers) keys.push(await cluster.key(orgId));
    for (const node of nodes) await node.start();
    // Of their own: how quickly they are answered doesn't change what is done next.
    const any = randomOf(options.seed + 10);
    const url = () => nodes[Math.floor(any() * nodes.length)]?.url ?? '';
    cluster.senders = cluster.ledgers.map(
      (ledger, index) => new Sender(ledger, url, keys[index] ?? '', index === 1, options.restMs),
    );
    const twins = await cluster.key('twins', 'owner', '--user', 'ada');
    cluster.twins = new Twins(
      nodes.map((node) => node.url),
      twins,
    );
    return cluster;
  }

  /** Any of the nodes that are awake. */
  get node(): DaybookNode {
    const awake = this.nodes.filter(({ isFrozen }) => !isFrozen);
    return awake[this.upTo(awake.length)] as DaybookNode;
  }

  upTo(most: number): number {
    return Math.floor(this.random() * most);
  }

  private async key(orgId: string, role = 'ingest', ...more: string[]): Promise<string> {
    const args = ['keys', 'create', '--org', orgId, '--role', role, ...more, '--json'];
    const { stdout, stderr } = await this.node.run(...args);
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout).key;
  }

  /** Lets something go wrong, each kind before any comes once more, until that was done so often. */
  async disturb(times: number): Promise<void> {
    const kinds: Record<string, () => Promise<void>> = {
      kill: () => this.kill(),
      freeze: () => this.freeze(),
      clock: async () => void this.node.setClock(CLOCKS_MS[this.upTo(CLOCKS_MS.length)] ?? 0),
      build: async () => this.build(this.node),
      ...(this.nodes.some(({ ways }) => ways.length > 0) && { cut: () => this.cut() }),
      ...this.options.more,
    };
    let next: string[] = [];
    for (let done = 0; done < times; done += 1) {
      if (next.length === 0) next = Object.keys(kinds);
      const [name = ''] = next.splice(this.upTo(next.length), 1);
      await kinds[name]?.();
      this.disturbed[name] = (this.disturbed[name] ?? 0) + 1;
      await wait(this.upTo(500));
      for (const { refusal } of this.senders) if (refusal !== undefined) throw refusal;
    }
  }

  /** Lets nothing more go wrong until the nodes show pairs of events that they didn't show before. */
  async recover(): Promise<void> {
    await this.asleep;
    await this.building;
    const shown = this.twins?.newest[0];
    while (this.twins?.newest[0] === shown) {
      await this.node.run('build');
      await wait(1000);
    }
  }

  /** One node at a time sleeps, and if there are others, what else goes wrong goes on. */
  private async freeze(): Promise<void> {
    await this.asleep;
    this.asleep = this.node.freeze(this.upTo(this.options.freezeMs ?? 2000));
    if (this.nodes.length === 1) await this.asleep;
  }

  private async kill(): Promise<void> {
    const { node } = this;
    // Some while they build.
    if (this.upTo(2) === 0) this.build(node);
    await wait(this.upTo(1000));
    await node.kill();
    await node.start();
  }

  /** Has a node build while something else goes wrong, unless one does. */
  private build(node: DaybookNode): void {
    if (this.isBuilding) return;
    this.isBuilding = true;
    this.building = node.run('build').finally(() => {
      this.isBuilding = false;
    });
  }

  /** Cuts a way to a store: at once, or for a while in one manner or another. */
  private async cut(): Promise<void> {
    const { ways } = this.node;
    const way = ways[this.upTo(ways.length)];
    if (way === undefined) return;
    const manner = this.upTo(3);
    if (manner === 0) return way.cut();
    if (manner === 1) await way.refuse();
    else way.silence();
    await wait(this.upTo(3000));
    await way.open();
  }

  /** Ends what goes wrong and what is sent, settles and builds all, and ends the nodes. */
  async settle(): Promise<void> {
    await this.asleep;
    await this.building;
    for (const sender of this.senders) await sender.stop();
    await this.twins?.stop();
    for (const node of this.nodes) {
      node.setClock(0);
      for (const way of node.ways) await way.open();
    }
    const { waiting = () => this.nodes.flatMap(({ data }) => waitingIn(data)).length } = this.options;
    await until(() => waiting() === 0);
    const { code, stderr } = await this.node.run('build');
    if (code !== 0) throw new Error(stderr);
    for (const node of this.nodes) await node.end();
  }

  /** The bodies of an organization whose events are counted, in the order in which they were sent. */
  bodiesOf(ledger: BodyLedger, counted: ReadonlySet<string>): SentBody[] {
    return ledger.bodies.filter(({ events }) => events.some(({ event_id }) => counted.has(event_id)));
  }
}
