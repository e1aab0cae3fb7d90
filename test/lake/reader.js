// Reads a lake over and over, as another program does, until its input ends, and says what it found: how often it read, and
// whatever wasn't all of one publication. Arguments: the engine, the folder of an organization, and the days and the users of each.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { DuckDBInstance } from '@duckdb/node-api';

const [, , engine, folder, days, users, modules] = process.argv;

async function connect() {
  if (engine === 'duckdb') {
    const connection = await (await DuckDBInstance.create()).connect();
    return {
      // The list of current files, for engines without Delta Lake.
      from: (table) => {
        const { tables } = JSON.parse(readFileSync(join(folder, '_snapshot.json'), 'utf8'));
        const paths = tables[table].files.map(({ path }) => `'${join(folder, table, path)}'`);
        return `read_parquet([${paths}])`;
      },
      ask: async (sql) => (await connection.run(sql)).getRowObjectsJson(),
    };
  }
  const { createChdbConnection } = createRequire(modules)('chdb/connection');
  const client = createClient({
    connection: createChdbConnection({ path: join(folder, '../../clickhouse') }),
  });
  // The engine reads files below its working directory.
  process.chdir('/');
  return {
    from: (table) => `deltaLakeLocal('${join(folder, table)}')`,
    ask: async (sql) => (await client.query({ query: sql, format: 'JSONEachRow' })).json(),
  };
}

const { from, ask } = await connect();
const tables = readdirSync(folder).filter((name) => !name.startsWith('_'));

// A build has as many calls of each user, and more than the one before; all of it is published at one instant.
const CALLS = {
  users: (rows) => `SELECT day, user_id, tool_calls AS calls, published_at FROM ${rows}`,
  events: (rows) =>
    `SELECT day, user_id, count(*) AS calls, max(published_at) AS published_at FROM ${rows} GROUP BY day, user_id`,
};
const sqlOf = (table) =>
  table in CALLS
    ? `SELECT count(*) AS users, count(DISTINCT day) AS days, count(DISTINCT published_at) AS publications, min(calls) AS low, max(calls) AS high FROM (${CALLS[table](from(table))}) AS calls_of`
    : `SELECT count(*) AS n, count(DISTINCT published_at) - count(DISTINCT day) AS surplus FROM ${from(table)}`;

let isOver = false;
process.stdin.on('end', () => {
  isOver = true;
});
process.stdin.resume();

let reads = 0;
let builds = 0;
const faults = [];
for (const seen = new Map(); !isOver && faults.length < 5; ) {
  for (const table of tables) {
    reads += 1;
    try {
      const [row] = await ask(sqlOf(table));
      const found = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]));
      if (!(table in CALLS)) {
        if (found.n === 0 || found.surplus > 0) faults.push({ table, mixed: row });
        continue;
      }
      const before = seen.get(table) ?? 0;
      if (
        found.users !== users * days ||
        found.days !== Number(days) ||
        found.publications !== 1 ||
        found.low !== found.high
      )
        faults.push({ table, mixed: row });
      if (found.low < before) faults.push({ table, older: row, before });
      if (found.low > before) builds += 1;
      seen.set(table, found.low);
    } catch (error) {
      faults.push({ table, error: String(error.message) });
    }
  }
  if (reads === tables.length) process.stdout.write('reading\n');
}
process.stdout.write(`${JSON.stringify({ reads, builds, faults })}\n`, () => process.exit());
