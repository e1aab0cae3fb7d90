import { statfs } from 'node:fs/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { z } from 'zod';
import { ApiError } from '../api/errors.js';
import { lastClosedDay } from '../day.js';
import { COMMIT, VERSION } from '../disk/package-root.js';
import type { Inbox } from '../ingest/inbox.js';
import type { Outcome } from '../otlp/take-telemetry.js';
import type { Signal } from '../otlp/telemetry.js';
import type { Config } from '../settings/config.js';
import { staleDays } from '../store/stale-days.js';
import { silenceCounts } from '../store/state/silence.js';
import type { Store } from '../store/store.js';

/** How long values from the store are reused, because scrapes must not cost work. */
const HOLDS_MS = 15_000;

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** A recorded build, as far as gauges need it. Instants are Unix milliseconds. */
const Run = z.object({
  cause: z.string(),
  started_at: z.number(),
  ended_at: z.number(),
  error: z.string().nullable(),
});
type Run = z.infer<typeof Run>;

/** The metrics. Labels are names of routes, reasons and the like, never ids, so there are few of them. */
export class Metrics {
  private readonly registry = new Registry();
  private readonly requests = new Histogram({
    name: 'daybook_http_request_duration_seconds',
    help: 'Duration of requests by route, method and status, from the head to the end of the answer',
    labelNames: ['route', 'method', 'status'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  private readonly events = new Counter({
    name: 'daybook_ingest_events_total',
    help: 'Events settled since the start, by the way they came: accepted ones and duplicates',
    labelNames: ['way', 'format', 'outcome'],
    registers: [this.registry],
  });
  private readonly rejects = new Counter({
    name: 'daybook_ingest_rejects_total',
    help: 'Lines that broke a rule since the start, by reason',
    labelNames: ['way', 'format', 'reason'],
    registers: [this.registry],
  });
  private readonly records = new Counter({
    name: 'daybook_otlp_records_total',
    help: 'Log records, spans and data points of OTLP that were answered since the start: ignored ones give no event, and unknown ones are parts of bodies without any',
    labelNames: ['signal', 'outcome'],
    registers: [this.registry],
  });
  private reading: { at: number; read: ReturnType<typeof readStore> } | undefined;

  constructor(private readonly clock: () => number) {
    collectDefaultMetrics({ register: this.registry });
    const labelNames = ['version', 'commit'] as const;
    const help = 'Version and commit of Daybook: always 1';
    new Gauge({ name: 'daybook_build_info', help, labelNames, registers: [this.registry] }).set(
      { version: VERSION, commit: COMMIT },
      1,
    );
    // Gauges that are named like counters; the same values are available by type.
    for (const what of ['handles', 'requests', 'resources'])
      this.registry.removeSingleMetric(`nodejs_active_${what}_total`);
  }

  /** Wraps the store so that settled events are counted. */
  counting(store: Store): Store {
    const settle: Store['settle'] = async (batch, ...rest) => {
      const settled = await store.settle(batch, ...rest);
      const labels = { way: batch.token === undefined ? 'command' : 'http', format: batch.source.name };
      this.events.inc({ ...labels, outcome: 'accepted' }, settled.accepted);
      this.events.inc({ ...labels, outcome: 'duplicate' }, settled.duplicates);
      for (const [reason, lines] of Object.entries(settled.byReason))
        this.rejects.inc({ ...labels, reason }, lines);
      return settled;
    };
    // Other methods run on the store itself, which keeps their state. Facts in memory are of this one, also in a turn.
    const inTurn: Store['inTurn'] = (turn, work) =>
      store.inTurn(turn, (given) => work(given === store ? counted : given));
    const counted: Store = new Proxy(store, {
      get(target, name) {
        if (name === 'settle') return settle;
        if (name === 'inTurn') return inTurn;
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    return counted;
  }

  /** Counts the records of an OTLP request by their outcome. */
  readonly countRecords = (signal: Signal, { accepted, rejected, ignored, unknown }: Outcome): void => {
    for (const [outcome, records] of Object.entries({ accepted, rejected, ignored, unknown }))
      this.records.inc({ signal, outcome }, records);
  };

  /** Measures the requests of a service, and on each scrape its store and inbox. */
  watch(
    app: FastifyInstance,
    { store, inbox, config }: { store: Store; inbox: Inbox; config: Config },
  ): void {
    this.measure(store, inbox, config.data);
    app.addHook('onResponse', async (request, reply) => {
      const { url = 'none' } = request.routeOptions;
      const labels = { route: url, method: request.method, status: reply.statusCode };
      this.requests.observe(labels, reply.elapsedTime / 1000);
    });
  }

  /** Serves the metrics at /metrics. */
  serve(app: FastifyInstance, config: Config): void {
    if (config.metrics === 'off') return;
    app.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
      if (config.metrics === 'local' && !isLocal(request))
        throw new ApiError(403, 'Only this machine may read metrics: set DAYBOOK_METRICS to change that.');
      reply.type(this.registry.contentType);
      return reply.send(await this.registry.metrics());
    });
  }

  /** Adds gauges that are read on a scrape. `data` is the data folder. */
  private measure(store: Store, inbox: Inbox, data: string): void {
    const gauge = (
      name: string,
      help: string,
      set: (gauge: Gauge) => void | Promise<void>,
      labelNames: string[] = [],
    ) =>
      new Gauge({
        name,
        help,
        labelNames,
        registers: [this.registry],
        async collect() {
          this.reset();
          await set(this);
        },
      });
    const read = () => this.read(store);
    gauge('daybook_inbox_files', 'Acknowledged bodies that wait to be settled', (own) =>
      own.set(inbox.depth.files),
    );
    gauge('daybook_inbox_bytes', 'Bytes of acknowledged bodies that wait to be settled', (own) =>
      own.set(inbox.depth.bytes),
    );
    gauge(
      'daybook_inbox_set_aside',
      'Files and folders in the inbox that cannot be settled: "daybook status" lists them',
      (own) => own.set(inbox.setAside.length),
    );
    gauge('daybook_disk_free_bytes', 'Bytes that are free on the disk of the data folder', async (own) => {
      const { bavail, bsize } = await statfs(data);
      own.set(bavail * bsize);
    });
    gauge('daybook_disk_bytes', 'Bytes that this disk has', async (own) => {
      const { blocks, bsize } = await statfs(data);
      own.set(blocks * bsize);
    });
    gauge('daybook_builds_due', 'Closed days that wait for a build', async (own) =>
      own.set((await read()).staleDays),
    );
    for (const [name, help] of [
      ['live_collectors', 'Collectors that report'],
      ['silent_collectors', 'Collectors that are silent, and that nobody has acknowledged'],
      ['silent_agents', 'Agents of people that are silent, and that nobody has acknowledged'],
      ['idle_agents', 'Agents of people that have stopped with nothing left to send'],
    ] as const)
      gauge(`daybook_${name}`, help, async (own) => own.set((await read()).silence[name]));
    gauge(
      'daybook_build_runs',
      'Recorded builds, by cause and outcome (ok, failed)',
      async (own) => {
        for (const { cause, outcome, runs } of (await read()).runs) own.set({ cause, outcome }, runs);
      },
      ['cause', 'outcome'],
    );
    gauge(
      'daybook_build_seconds',
      'Total seconds of these builds',
      async (own) => {
        for (const { cause, outcome, seconds } of (await read()).runs) own.set({ cause, outcome }, seconds);
      },
      ['cause', 'outcome'],
    );
    const ofLastRun = (name: string, help: string, value: (run: Run) => number) =>
      gauge(name, help, async (own) => {
        const { lastRun } = await read();
        if (lastRun !== undefined) own.set(value(lastRun));
      });
    ofLastRun(
      'daybook_build_last_end_timestamp_seconds',
      'When the last build ended, in Unix seconds',
      (run) => run.ended_at / 1000,
    );
    ofLastRun('daybook_build_last_duration_seconds', 'How long the last build took', secondsOf);
    ofLastRun(
      'daybook_build_last_ok',
      'Whether the last build built every day that was due (1) or not (0)',
      (run) => (run.error === null ? 1 : 0),
    );
  }

  private read(store: Store): ReturnType<typeof readStore> {
    const now = this.clock();
    if (this.reading === undefined || Math.abs(now - this.reading.at) > HOLDS_MS) {
      const read = readStore(store, now);
      this.reading = { at: now, read };
      // After a failure, the next scrape reads again.
      read.catch(() => {
        this.reading = undefined;
      });
    }
    return this.reading.read;
  }
}

function secondsOf({ started_at, ended_at }: Run): number {
  return (ended_at - started_at) / 1000;
}

/** Reads the values of gauges from the store. */
async function readStore(store: Store, now: number) {
  const stale = await staleDays(store, lastClosedDay(now));
  const rows = await store.select(
    'SELECT cause, started_at, ended_at, error FROM runs ORDER BY started_at, run_id',
  );
  const all = rows.map((row) => Run.parse(row));
  const runs = new Map<string, { cause: string; outcome: string; runs: number; seconds: number }>();
  for (const run of all) {
    const [cause, outcome] = [run.cause, run.error === null ? 'ok' : 'failed'];
    const { runs: before = 0, seconds = 0 } = runs.get(`${cause} ${outcome}`) ?? {};
    runs.set(`${cause} ${outcome}`, { cause, outcome, runs: before + 1, seconds: seconds + secondsOf(run) });
  }
  const silence = { live_collectors: 0, silent_collectors: 0, silent_agents: 0, idle_agents: 0 };
  const organizations = (await store.select('SELECT org_id FROM organizations')).map(({ org_id }) =>
    String(org_id),
  );
  const countsOf = await silenceCounts(store.select.bind(store), organizations, lastClosedDay(now));
  for (const counts of organizations.map(countsOf))
    for (const name of Object.keys(silence) as (keyof typeof silence)[]) silence[name] += counts[name];
  return { staleDays: stale.length, silence, runs: [...runs.values()], lastRun: all.at(-1) };
}

/** The headers that proxies and content delivery networks add. */
const OF_PROXIES = /^via$|^cdn-loop$|^cf-|forwarded|(client|real|remote)-?ip|external-address/;

/** Whether a request comes from this machine itself, and not through a proxy on it. */
function isLocal({ socket, headers }: FastifyRequest): boolean {
  const { remoteAddress = '' } = socket;
  return (
    /^(::ffff:)?127\.|^::1$/.test(remoteAddress) &&
    !Object.keys(headers).some((name) => OF_PROXIES.test(name))
  );
}
