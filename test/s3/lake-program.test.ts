import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { addDays } from '../../src/day.js';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { isInstalled } from '../clickhouse/engine.js';
import { daybook, keyOf, servedWith, TODAY } from '../program.js';
import { event, lines, temporaryFolder } from '../world.js';
import { withCredentials } from './s3-credentials.js';
import { S3Server } from './s3-server.js';

const run = promisify(execFile);
const MODULES = join(PACKAGE_ROOT, 'test/clickhouse/node_modules/installed.json');
const [FIRST, SECOND] = [addDays(TODAY, -3), addDays(TODAY, -2)];

test.runIf(isInstalled())(
  'ClickHouse and SQL over HTTP read the lake that a service has in a bucket',
  async () => {
    withCredentials(onTestFinished);
    const server = await S3Server.start();
    onTestFinished(() => server.close());
    const settings = { DAYBOOK_LAKE: server.address('lake') };
    const data = join(temporaryFolder(), 'data');
    const key = await keyOf(data, 'owner');
    const { url } = await servedWith(settings, data);
    const post = async (path: string, type: string, body: string) => {
      const answer = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': type },
        body,
      });
      expect(answer.status).toBe(200);
      return answer.json();
    };
    const send = (user: string, day: string) =>
      post(
        '/api/v1/events',
        'application/x-ndjson',
        lines([event(`${user}-${day}`, { user_id: user, timestamp: `${day}T10:00:00Z` })]),
      );
    const command = async (...args: string[]) => {
      const { code, stdout, stderr } = await daybook(['--data', data, ...args], { env: settings });
      expect(code, stderr).toBe(0);
      return stdout;
    };
    const folder = temporaryFolder();
    /** What ClickHouse reads of the events, as a Delta table in the bucket. */
    const fromClickHouse = async () => {
      const table = `deltaLake('${server.url}/bucket/lake/acme/events/', 'key', 'secret')`;
      const sql = `SELECT user_id || ' ' || toString(day) AS row FROM ${table} ORDER BY row`;
      const { stdout } = await run('node', [
        join(PACKAGE_ROOT, 'test/s3/ask-clickhouse.js'),
        MODULES,
        folder,
        sql,
      ]);
      return (JSON.parse(stdout) as { row: string }[]).map(({ row }) => row);
    };
    const overHttp = async () => {
      const sql = "SELECT user_id || ' ' || day AS row FROM events ORDER BY row";
      const { data: rows } = await post('/api/v1/sql', 'application/json', JSON.stringify({ sql }));
      return rows.map(({ row }: { row: string }) => row);
    };
    const build = async (...expected: string[]) => {
      await command('build');
      expect(await overHttp()).toEqual(expected);
      expect(await fromClickHouse()).toEqual(expected);
    };

    await send('ada', FIRST);
    await send('grace', SECOND);
    await build(`ada ${FIRST}`, `grace ${SECOND}`);
    // A day that is built again.
    await send('mary', FIRST);
    await build(`ada ${FIRST}`, `grace ${SECOND}`, `mary ${FIRST}`);
    await command('people', 'erase', 'mary', '--org', 'acme', '--apply');
    const rows = await fromClickHouse();
    expect(rows).toEqual(await overHttp());
    expect(rows).toEqual([`ada ${FIRST}`, expect.stringMatching(`^erased-.+ ${FIRST}$`), `grace ${SECOND}`]);
    await command('lake', 'verify');
  },
  600_000,
);
