import { once } from 'node:events';
import { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { openLake } from './lake-database.js';
import { answer, check, rehearse } from './query-answer.js';
import type { Failed, SqlJob, SqlReport } from './query-job.js';
import { toSqlError } from './sql-error.js';

const READY_MS = 2000;

/** How much is made before it is taken: enough that both sides have something to do. */
const AHEAD_BYTES = 4 << 20;

/**
 * The program of a process that answers one query: `node query-process.js MEMORY_MB THREADS PRICES`. It is told of the query as a message,
 * writes the answer to its standard output, and says in messages what became of it. Nothing of the
 * service's environment is in its own, and it is ended by the one who started it, or with it.
 */
const [memory, processors, prices = ''] = process.argv.slice(2);
const [memoryMb, threads] = [Number(memory), Number(processors)];

// Everything else on the machine goes first.
setPriority(10);
// A Ctrl-C in the terminal is for the service, which ends this one when it is time.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
// TRICKY: not exit(), which waits for what DuckDB does.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const output = new Socket({ fd: 1, readable: false });
output.on('error', () => process.kill(process.pid, 'SIGKILL'));

const report = (message: SqlReport) => new Promise<void>((sent) => process.send?.(message, () => sent()));

const lake = openLake({ memoryMb, threads, prices });
// The query that waits for it is told.
lake.catch(() => undefined);

let isAsked = false;
let rehearsal: Promise<void> | undefined;
// Who still waits then may as well get ready. The query that comes meanwhile waits until that has stopped.
setTimeout(() => {
  if (!isAsked)
    rehearsal = lake.then((connection) => rehearse(connection, () => isAsked)).catch(() => undefined);
}, READY_MS);

/** What DuckDB made of a query, as a report. */
function failure(error: unknown): Failed {
  const { fault, message } = toSqlError(error, memoryMb);
  // Of what is no fault of the query, the log has the cause.
  const cause = fault === 'engine' || fault === 'lake' ? { cause: String(error).slice(0, 2000) } : {};
  return { state: 'failed', fault, detail: message, ...cause };
}

process.on('message', async (job: SqlJob) => {
  let tables: Set<string>;
  isAsked = true;
  try {
    const connection = await lake;
    await rehearsal;
    await report({ state: 'started' });
    tables = await check(connection, job);
  } catch (error) {
    // Nothing of the organization was looked at: the next query can be any other's.
    return report({ ...failure(error), isUsed: false });
  }
  try {
    const rows = await answer(await lake, job, tables, {
      begin: () => report({ state: 'begun' }),
      write: async (bytes) => {
        output.write(bytes);
        if (output.writableLength > AHEAD_BYTES) await once(output, 'drain');
      },
    });
    await new Promise<void>((done) => output.end(done));
    await report({ state: 'done', rows });
  } catch (error) {
    await report(failure(error));
  }
});
