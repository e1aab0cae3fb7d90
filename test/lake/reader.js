// Reads a lake over and over, as another program does, until its input ends, and says what it found: how often it read, and
// whatever wasn't a whole day of one build. Arguments: the engine, the lake's folder, the days and the users of each.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { DuckDBInstance } from '@duckdb/node-api';

const [, , engine, lake, days, users, modules] = process.argv;

async function connect() {
  if (engine === 'duckdb') {
    const connection = await (await DuckDBInstance.create()).connect();
    return {
      from: (path) => `read_parquet('${path}')`,
      ask: async (sql) => (await connection.run(sql)).getRowObjectsJson(),
    };
  }
  const { createChdbConnection } = createRequire(modules)('chdb/connection');
  const client = createClient({
    connection: createChdbConnection({ path: join(lake, '..', 'clickhouse') }),
  });
  return {
    from: (path) => `file('${path}', 'Parquet')`,
    ask: async (sql) => (await client.query({ query: sql, format: 'JSONEachRow' })).json(),
  };
}

const { from, ask } = await connect();
// A build has as many calls of each user, and more than the one before.
const ofUsers = `SELECT day, count(*) AS users, min(tool_calls) AS low, max(tool_calls) AS high
  FROM ${from(join(lake, 'users/*/*/data.parquet'))} GROUP BY day`;
const ofEvents = `SELECT day, count(*) AS users, min(calls) AS low, max(calls) AS high
  FROM (SELECT day, user_id, count(*) AS calls FROM ${from(join(lake, 'events/*/*/data.parquet'))} GROUP BY day, user_id) AS calls_of
  GROUP BY day`;

let isOver = false;
process.stdin.on('end', () => {
  isOver = true;
});
process.stdin.resume();

let reads = 0;
let builds = 0;
const faults = [];
for (const seen = new Map(); !isOver && faults.length < 5; ) {
  for (const sql of [ofUsers, ofEvents]) {
    reads += 1;
    try {
      const rows = await ask(sql);
      if (rows.length !== Number(days)) faults.push({ missing: rows });
      for (const row of rows) {
        const before = seen.get(sql + row.day) ?? 0;
        if (Number(row.users) !== Number(users) || Number(row.low) !== Number(row.high))
          faults.push({ mixed: row });
        if (Number(row.low) < before) faults.push({ older: row, before });
        if (Number(row.low) > before) builds += 1;
        seen.set(sql + row.day, Number(row.low));
      }
    } catch (error) {
      faults.push({ error: String(error.message) });
    }
  }
  if (reads === 2) process.stdout.write('reading\n');
}
process.stdout.write(`${JSON.stringify({ reads, builds, faults })}\n`, () => process.exit());
