import { openAsBlob } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Engine } from './engine.js';
import { EngineError } from './http-answer.js';
import type { Done } from './port.js';
import { isOnCluster, isWriting, type Statement } from './statement.js';
import type { StatementLog } from './statement-log.js';

const PAUSE_MS = 10;

/** The number under which the log has a statement. */
const NUMBER = 'x-front-number';

/** Dedups by themselves: a reader that was killed may do its last statement once more. TRICKY: not so an EXCHANGE. */
const ONCE = { deduplicate_insert: 'enable', deduplicate_insert_select: 'enable_even_for_bad_queries' };

/** The servers that have a write when it is acknowledged, as one: see Replica. */
export class Primary {
  constructor(
    private readonly engine: Engine,
    private readonly log: StatementLog,
  ) {}

  /** Runs a statement. One for a cluster waits for the replica as long as its settings say. */
  readonly run = async (statement: Statement, format: string | undefined): Promise<Done> => {
    const rows = await this.engine.run(statement, format);
    if (!isWriting(statement)) return { rows };
    const number = this.log.add(statement);
    if (isOnCluster(statement)) {
      const until = Date.now() + 1000 * Number(statement.settings.distributed_ddl_task_timeout ?? 180);
      while ((this.log.applied ?? number) < number) {
        if (Date.now() > until)
          throw new EngineError(
            159,
            'TIMEOUT_EXCEEDED',
            'Distributed DDL task is not finished on 1 of 2 hosts',
          );
        await wait(PAUSE_MS);
      }
    }
    return { rows, headers: { [NUMBER]: String(number) } };
  };
}

/** A server that has what others wrote after a while. It answers reads from what it has, and has writes done by the others. */
export class Replica {
  /** How much later it has a statement, in milliseconds; undefined while it gets none. */
  lag: number | undefined = 0;
  /** Why it has stopped. */
  failure: string | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly log: StatementLog,
    private readonly primary: string,
  ) {
    if (log.applied === undefined) log.note(0);
  }

  get applied(): number {
    return this.log.applied ?? 0;
  }

  /** What the list of replicated tables says of it: when the oldest statement was done that it hasn't. */
  private get delay(): string {
    const next = this.log.read(this.applied + 1);
    const seconds = next === undefined ? 0 : Math.floor((Date.now() - next.at) / 1000);
    return `(SELECT currentDatabase() AS database, 0 AS is_readonly, 0 AS is_session_expired, ${seconds} AS absolute_delay)`;
  }

  /** Does the statements of the log, for ever. */
  async follow(): Promise<void> {
    for (let number = this.applied + 1; ; ) {
      const next = this.log.read(number);
      if (next === undefined || this.lag === undefined || Date.now() < next.at + this.lag) {
        await wait(PAUSE_MS);
        continue;
      }
      const { statement } = next;
      const settings = { insert_deduplication_token: `log ${number}`, ...statement.settings, ...ONCE };
      try {
        await this.engine.run({ ...statement, settings });
      } catch (error) {
        this.failure = `${number}: ${error}`;
        throw error;
      }
      this.log.note(number);
      number += 1;
    }
  }

  readonly run = async (statement: Statement, format: string | undefined): Promise<Done> => {
    if (!isWriting(statement)) {
      const query = statement.query.replaceAll('system.replicas', () => this.delay);
      return { rows: await this.engine.run({ ...statement, query }, format) };
    }
    if (this.lag === undefined) throw new EngineError(242, 'TABLE_IS_READ_ONLY', 'Table is in readonly mode');
    const { rows, number } = await this.forward(statement, format);
    while (this.applied < number) {
      if (this.lag === undefined || this.failure !== undefined)
        throw new EngineError(319, 'UNKNOWN_STATUS_OF_INSERT', 'Unknown status, client must retry');
      await wait(PAUSE_MS);
    }
    return { rows };
  };

  private async forward(
    { query, database, settings, parameters, body }: Statement,
    format: string | undefined,
  ) {
    const asked = new URLSearchParams({ database, ...settings, ...(format && { default_format: format }) });
    for (const [name, value] of Object.entries(parameters)) asked.set(`param_${name}`, value);
    if (body !== undefined) asked.set('query', query);
    asked.delete('enable_http_compression');
    const sent = body === undefined ? query : await openAsBlob(body);
    const answer = await fetch(`${this.primary}/?${asked}`, { method: 'POST', body: sent }).catch(() => {
      throw new EngineError(999, 'KEEPER_EXCEPTION', 'Connection loss');
    });
    const rows = await answer.arrayBuffer().then(
      (bytes) => new Uint8Array(bytes),
      () => {
        throw new EngineError(319, 'UNKNOWN_STATUS_OF_INSERT', 'Unknown status, client must retry');
      },
    );
    if (!answer.ok) throw new Error(Buffer.from(rows).toString());
    return { rows, number: Number(answer.headers.get(NUMBER) ?? 0) };
  }
}
