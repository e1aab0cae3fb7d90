// Asks ClickHouse's engine, in a process of its own, and prints the rows as JSON. Arguments: where the engine is installed, a folder for it, and the query.
import { createRequire } from 'node:module';
import { createClient } from '@clickhouse/client';

const [, , modules, path, query] = process.argv;
const { createChdbConnection } = createRequire(modules)('chdb/connection');
const client = createClient({ connection: createChdbConnection({ path }) });
const rows = await (await client.query({ query, format: 'JSONEachRow' })).json();
process.stdout.write(`${JSON.stringify(rows)}\n`, () => process.exit());
