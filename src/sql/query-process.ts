import { once } from 'node:events';
import { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { NAMES, openLake } from './lake-database.js';
import { answer } from './query-answer.js';
import { checkQuery } from './query-check.js';
import type { Failed, SqlJob, SqlReport } from './query-job.js';
import { withoutShow } from './show-tables.js';
import { toSqlError } from './sql-error.js';

/** How much is buffered, so that both sides have work. */
const BUFFERED_BYTES = 4 << 20;

/**
 * The program of a process that answers one query: `node query-process.js MEMORY_MB THREADS [PRICES]`, in the data folder. It gets the query as a message,
 * writes the answer to its standard output, and reports the outcome in messages. Its environment has nothing of the service's. The
 * service ends it, or it ends with the service.
 */
const [memory, processors, prices] = process.argv.slice(2);
const [memoryMb, threads] = [Number(memory), Number(processors)];

// Everything else on the machine has priority.
setPriority(10);
// Ctrl-C in the terminal is for the service, which ends this process in time.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
// TRICKY: not exit(), which waits for DuckDB.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const output = new Socket({ fd: 1, readable: false });
output.on('error', () => process.kill(process.pid, 'SIGKILL'));

const report = (message: SqlReport) => new Promise<void>((sent) => process.send?.(message, () => sent()));

const lake = openLake({ memoryMb, threads, data: process.cwd(), prices });
// Tells the waiting query.
lake.catch(() => undefined);

/** An error of a query as a report. */
function failure(error: unknown): Failed {
  const { fault, message } = toSqlError(error, memoryMb);
  // If it isn't the query's fault, the log gets the cause.
  const cause = fault === 'engine' || fault === 'lake' ? { cause: String(error).slice(0, 2000) } : {};
  return { state: 'failed', fault, detail: message, ...cause };
}

process.on('message', async (asked: SqlJob) => {
  const job = { ...asked, sql: withoutShow(asked.sql) };
  let tables: Set<string>;
  try {
    const connection = await lake;
    await report({ state: 'started' });
    tables = await checkQuery(connection, job.sql, NAMES);
  } catch (error) {
    // Nothing of the organization was read, so the next query can belong to another.
    return report({ ...failure(error), isUsed: false });
  }
  try {
    const rows = await answer(await lake, job, tables, {
      begin: (seen) => report({ state: 'begun', seen }),
      write: async (bytes) => {
        output.write(bytes);
        if (output.writableLength > BUFFERED_BYTES) await once(output, 'drain');
      },
    });
    await new Promise<void>((done) => output.end(done));
    await report({ state: 'done', rows });
  } catch (error) {
    await report(failure(error));
  }
});
