import { DuckDBInstance } from '@duckdb/node-api';
import { readSql, withSources } from '../src/store/sql-text.js';
import { generateSpending } from './generate-spending.js';
import { table } from './table.js';

const FIRST_DAY = '2026-01-01';
const DAYS = 151;
const ORGANIZATIONS = 100;
const SIZES = [1, 6, 20, 100, 250];
/** How many days each third of the organizations has data before the month of the first question, which is April. */
const HISTORIES = [90, 30, 15];
const MONTHS = [
  { month: '2026-04-01', end: '2026-04-30' },
  { month: '2026-05-01', end: '2026-05-31' },
];
/** After how many built days of the month it is asked. */
const BUILT = [3, 7, 12, 18, 24, 28];

interface Forecast {
  readonly name: string;
  readonly usd: number;
  readonly low: number;
  readonly high: number;
}

const dayAt = (index: number) =>
  new Date(Date.parse(FIRST_DAY) + index * 86_400_000).toISOString().slice(0, 10);

/**
 * Tries the forecast of sql/report/budgets.sql on invented organizations: how often a month's cost lies in the interval that was told before its
 * end, how wide this is, and how far the forecast misses.
 */
export async function budgets(): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run('CREATE TABLE activity (org_id VARCHAR, day DATE)');
  await connection.run(
    'CREATE TABLE spending (day DATE, name VARCHAR, cost_usd DECIMAL(38, 12), contracted_cost DECIMAL(38, 22), unpriced_tokens BIGINT)',
  );
  const row = table('people  ', 'built', 'forecasts', 'in interval', 'mean miss', 'mean half width');
  for (const people of SIZES) {
    const all = new Map<number, { inside: number; misses: number[]; widths: number[] }>();
    for (const [place, history] of HISTORIES.entries()) {
      const first = 90 - history;
      const spending = Array.from({ length: Math.ceil(ORGANIZATIONS / HISTORIES.length) }, (_, index) =>
        generateSpending(people * 10_000 + index * HISTORIES.length + place, people, FIRST_DAY, DAYS),
      );
      await connection.run('DELETE FROM activity; DELETE FROM spending');
      await connection.run(
        `INSERT INTO activity SELECT 'acme', DATE '${FIRST_DAY}' + CAST(day AS INTEGER) FROM range(${first}, ${DAYS}) AS days(day)`,
      );
      const rows = spending.flatMap((days, index) =>
        days
          .slice(first)
          .map((usd, day) => `('${dayAt(first + day)}', '${index}', ${usd.toFixed(6)}, NULL, 0)`),
      );
      await connection.run(`INSERT INTO spending VALUES ${rows.join(', ')}`);
      for (const { month, end } of MONTHS)
        for (const built of BUILT) {
          const to = dayAt(Date.parse(month) / 86_400_000 - Date.parse(FIRST_DAY) / 86_400_000 + built - 1);
          const found = all.get(built) ?? { inside: 0, misses: [], widths: [] };
          all.set(built, found);
          for (const { name, usd, low, high } of await forecasts({ month, end, to })) {
            const actual = (spending[Number(name)] ?? [])
              .filter((_, day) => dayAt(day) >= month && dayAt(day) <= end)
              .reduce((sum, one) => sum + one, 0);
            if (actual === 0) continue;
            if (low <= actual && actual <= high) found.inside += 1;
            found.misses.push(Math.abs(usd - actual) / actual);
            found.widths.push((high - low) / 2 / actual);
          }
        }
    }
    const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
    const percent = (ratio: number) => `${(ratio * 100).toFixed(0)} %`;
    for (const [built, { inside, misses, widths }] of all)
      row(
        String(people).padEnd(8),
        String(built).padStart(5),
        String(misses.length).padStart(9),
        percent(inside / misses.length).padStart(11),
        percent(mean(misses)).padStart(9),
        percent(mean(widths)).padStart(15),
      );
    const whole = [...all.values()];
    const asked = whole.reduce((sum, { misses }) => sum + misses.length, 0);
    row(
      String(people).padEnd(8),
      '  all',
      String(asked).padStart(9),
      percent(whole.reduce((sum, { inside }) => sum + inside, 0) / asked).padStart(11),
      percent(mean(whole.flatMap(({ misses }) => misses))).padStart(9),
      percent(mean(whole.flatMap(({ widths }) => widths))).padStart(15),
    );
  }

  /** What the SQL forecasts once the days up to one are built. */
  async function forecasts({
    month,
    end,
    to,
  }: {
    month: string;
    end: string;
    to: string;
  }): Promise<Forecast[]> {
    const before = `${new Date(Date.parse(month) - 86_400_000).toISOString().slice(0, 7)}-01`;
    const values: Record<string, string> = {
      ...{ org_id: "'acme'", from: `DATE '${before}'`, to: `DATE '${to}'`, closed: `DATE '${to}'` },
      ...{ month: `DATE '${month}'`, month_end: `DATE '${end}'`, month_name: `'${month.slice(0, 7)}'` },
      ...{ scope: "'team'", currency: 'NULL', default_usd: '0', has_default: '0' },
      ...{ is_spread: '0', tells_people: '1', people_at_least: '0' },
    };
    const sql = withSources(readSql('report/budgets.sql'), {
      name_day: `SELECT * FROM spending WHERE day BETWEEN DATE '${before}' AND DATE '${to}'`,
      budget: 'SELECT DISTINCT name, CAST(1 AS DOUBLE) AS usd FROM spending',
      month_day: `SELECT CAST(day AS DATE) AS day FROM range(DATE '${month}', DATE '${end}' + 1, INTERVAL 1 DAY) AS days(day)`,
    }).replaceAll(/\$(\w+)/g, (text, name) => values[name] ?? text);
    const reader = await connection.runAndReadAll(
      `SELECT name, forecast_usd AS usd, forecast_low_usd AS low, forecast_high_usd AS high FROM (${sql}) WHERE forecast_high_usd IS NOT NULL`,
    );
    return reader.getRowObjects() as unknown as Forecast[];
  }
}
