import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../../src/disk/package-root.js';
import { type Statement, verbOf, withoutKeeper } from './statement.js';

interface Session {
  queryAsync(sql: string, options: { format: string }): Promise<{ bytes(): Uint8Array }>;
  close(): void;
}

/** Settings of the HTTP interface, which the engine doesn't have. */
const OF_HTTP = new Set([
  'default_format',
  'enable_http_compression',
  'send_progress_in_http_headers',
  'wait_end_of_query',
]);

/** On small data it takes longer to compile a query than to run it. */
const UNCOMPILED = {
  compile_expressions: '0',
  compile_aggregate_expressions: '0',
  compile_sort_description: '0',
};

/** So many sessions of the same settings wait for statements; others are closed. */
const IDLE_AT_MOST = 8;

const literal = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

/** The one ClickHouse engine of this process, whose data are in a folder. Each statement that runs has a session to itself. */
export class Engine {
  private readonly idle = new Map<string, Session[]>();
  private readonly open: () => Session;

  constructor(readonly folder: string) {
    const require = createRequire(join(PACKAGE_ROOT, 'test/clickhouse/node_modules/installed.json'));
    const { Session } = require('chdb');
    this.open = () => new Session(folder);
  }

  /** Runs a statement, and answers its rows. Throws what the engine says. */
  async run(statement: Statement, format = 'TabSeparated'): Promise<Uint8Array> {
    const { insert_deduplication_token: token = '', ...settings } = statement.settings;
    const kept = Object.entries({ ...UNCOMPILED, ...settings })
      .filter(([name]) => !OF_HTTP.has(name))
      .sort();
    const key = JSON.stringify([statement.database, kept]);
    const session = this.idle.get(key)?.pop() ?? (await this.session(statement.database, kept));
    const once = [
      `SET insert_deduplication_token = ${literal(token)}`,
      ...Object.entries(statement.parameters).map(([name, value]) => `SET param_${name} = ${literal(value)}`),
    ];
    try {
      const result = await session.queryAsync([...once, spelled(statement)].join('; '), { format });
      const rows = Buffer.from(result.bytes());
      // TRICKY: the engine lists a statement as running until the next one of its session.
      if (verbOf(statement.query) === 'INSERT') await session.queryAsync('SELECT 1', { format });
      return rows;
    } finally {
      const others = this.idle.get(key) ?? [];
      if (others.length < IDLE_AT_MOST) this.idle.set(key, [...others, session]);
      else session.close();
    }
  }

  private async session(
    database: string,
    settings: readonly (readonly [string, string])[],
  ): Promise<Session> {
    const session = this.open();
    const sets = settings.map(([name, value]) => `SET ${name} = ${literal(value)}`);
    try {
      await session.queryAsync([`USE ${database}`, ...sets].join('; '), { format: 'Null' });
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  }
}

/** The engine takes the rows behind an INSERT for text, so those of a body are read as a file. */
function spelled(statement: Statement): string {
  const query = withoutKeeper(statement);
  if (statement.body === undefined) return query;
  const [, into = query, format = ''] = /^(INSERT INTO .*) FORMAT (\w+)\s*$/s.exec(query) ?? [];
  const columns = /\(([^)]*)\)\s*$/.exec(into)?.[1] ?? '*';
  return `${into} SELECT ${columns} FROM file(${literal(statement.body)}, ${format})`;
}
