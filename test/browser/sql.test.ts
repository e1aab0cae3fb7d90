/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { addDays } from '../../src/day.js';
import { Queries } from '../../src/sql/query-pool.js';
import { readSql, readSqlFolder } from '../../src/store/sql-text.js';
import { ending, event, temporaryFolder } from '../world.js';
import { bytesOf, drawn, expectSound, faultsOf, hasBrowser, LAST, rowsOf, Site } from './browser.js';

const FROM = addDays(LAST, -29);
/** Takes minutes, and every processor of the query. */
const ENDLESS = 'SELECT count(*) FROM range(10000000) AS a (i), range(10000000) AS b (j) WHERE i + j = 7';

const editor = (page: Page) => page.getByRole('textbox', { name: 'SQL statement' });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** Writes a statement in place of the present one. */
async function write(page: Page, sql: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(sql);
  // The list of completions would lie over what is pressed next.
  await page.keyboard.press('Escape');
}

/** Runs the statement, and waits for its rows. */
async function run(page: Page): Promise<void> {
  const answered = page.waitForResponse((response) => response.url().endsWith('/api/v1/sql'));
  await press(page, 'Run');
  await answered;
  await page.waitForSelector('.result:not(.loading)');
  await drawn(page);
}

/** The cells of the result's table: their values, and null for NULL. */
function cellsOf(page: Page): Promise<(string | null)[][]> {
  return page
    .locator('.answer tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.querySelectorAll('td')].map((cell) =>
          cell.classList.contains('null') ? null : (cell.dataset.value ?? 'nothing'),
        ),
      ),
    );
}

async function saved(page: Page, name: string): Promise<Buffer> {
  const [file] = await Promise.all([page.waitForEvent('download'), press(page, `Download as ${name}`)]);
  return bytesOf(file);
}

describe.runIf(hasBrowser)('the page of SQL', () => {
  const atEnd = ending();
  let site: Site;
  let key: string;
  beforeAll(async () => {
    site = await Site.start(atEnd, { settings: { DAYBOOK_SQL_QUERIES: '1', DAYBOOK_SQL_TIME_S: '600' } });
    await site.publish();
    ({ key } = await site.key('manager'));
  });
  afterAll(() => expect(site.complaints).toEqual([]));

  const post = (body: object) =>
    fetch(`${site.url}/api/v1/sql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came.
  const answerOf = async (sql: string, params = {}): Promise<any> => {
    const answer = await post({ sql, params });
    expect(answer.status, sql).toBe(200);
    return answer.json();
  };

  test('answers a question of the cookbook with its parameters, as a table and a chart', async () => {
    const page = await site.signedIn(key, 'sql');
    await page.locator('.cookbook li').first().waitFor();
    expect(await page.locator('.cookbook li').allTextContents()).toEqual(
      readSqlFolder('cookbook').map(({ text }) => text.split('\n')[0]?.replace('-- ', '')),
    );
    await press(page, 'How far can each day be trusted?');
    const fields = [page.getByLabel('$from'), page.getByLabel('$to')] as const;
    expect(await Promise.all(fields.map((field) => field.inputValue()))).toEqual([FROM, LAST]);
    const from = addDays(LAST, -13);
    await fields[0].fill(from);
    await page.waitForURL((url) => url.searchParams.get('$from') === from);
    await run(page);
    const { data, meta } = await answerOf(readSql('cookbook/data_quality.sql'), { from, to: LAST });
    expect(data.length).toBeGreaterThan(8);
    const values = data.map((row: object) => Object.values(row).map(String));
    expect(await cellsOf(page)).toEqual(values);
    const heads = await page.locator('.answer thead bdi').allTextContents();
    expect(heads).toEqual(meta.columns.map(({ name }: { name: string }) => name));
    const result = page.getByRole('region', { name: `${data.length} rows` });
    await result.getByText('newest day Jul 9, 2026, published Jul 10, 2026').waitFor();
    // What the question is about is drawn first: the ratios, not the counts that they are made of.
    const drawn = await page.locator('.sql-chart [aria-pressed=true]').allTextContents();
    expect(drawn.length).toBeGreaterThan(0);
    for (const name of drawn) expect(name).toMatch(/_ratio$/);
    const valuesOf = (names: readonly string[]) =>
      data.map((row: Record<string, number>) => names.map((name) => row[name]));
    expect(Object.values(await rowsOf(page, 'sql'))).toEqual(valuesOf(drawn));
    expect(await page.locator('figure[data-chart=sql] circle').count()).toBe(drawn.length * data.length);
    await page.locator('figure[data-chart=sql] [role=application]').focus();
    await page.keyboard.press('ArrowLeft');
    const tip = await page.locator('figure[data-chart=sql] [role=status]').textContent();
    expect(tip).toContain(data.at(-1).day);
    await press(page, 'events');
    await expect
      .poll(async () => Object.values(await rowsOf(page, 'sql')))
      .toEqual(valuesOf([...drawn, 'events']));
    const opened = await site.signedIn(key, page.url().slice(site.url.length + 1));
    expect(await opened.getByLabel('$from').inputValue()).toBe(from);
    await run(opened);
    expect(await rowsOf(opened, 'sql')).toEqual(await rowsOf(page, 'sql'));
  });

  test('draws bars of categories and lines of groups, as the reader chooses', async () => {
    const page = await site.signedIn(key, 'sql');
    const bars = 'SELECT agent, sum(sessions) AS sessions FROM session_parts GROUP BY agent ORDER BY ALL';
    await write(page, bars);
    await run(page);
    const { data: agents } = await answerOf(bars);
    expect(await rowsOf(page, 'sql')).toEqual(
      Object.fromEntries(agents.map((row: Record<string, string>) => [row.agent, [row.sessions]])),
    );
    expect(await page.locator('figure[data-chart=sql] rect').count()).toBe(agents.length);
    const lines = `SELECT day, agent, sum(tool_calls) AS calls, sum(user_messages) AS turns FROM session_parts WHERE day > '${addDays(LAST, -7)}' GROUP BY ALL ORDER BY ALL`;
    const { data } = await answerOf(lines);
    await write(page, lines);
    await run(page);
    await page.getByLabel('Group by').waitFor();
    expect(await page.getByLabel('Group by').inputValue()).toBe('agent');
    const check = async (of: 'calls' | 'turns') => {
      const columns = await page.locator('figure[data-chart=sql] table.rows thead th').allTextContents();
      const rows: Record<string, (number | null)[]> = {};
      for (const row of data) {
        rows[row.day] ??= columns.slice(1).map(() => null);
        const cells = rows[row.day] ?? [];
        cells[columns.indexOf(row.agent) - 1] = row[of];
      }
      await expect.poll(() => rowsOf(page, 'sql')).toEqual(rows);
    };
    await check('calls');
    await press(page, 'turns');
    await check('turns');
    await page.getByLabel('Along').selectOption('agent');
    await page.getByLabel('Group by').selectOption('nothing');
    await expect.poll(() => page.locator('figure[data-chart=sql] rect').count()).toBeGreaterThan(0);
  });

  test('completes tables and their columns, and lets go with Tab', async () => {
    const page = await site.open();
    await page.getByLabel('API key').fill(key);
    await press(page, 'Sign in with this key');
    const listed = page.waitForResponse((response) => response.url().endsWith('/sql/tables'));
    await page.getByRole('link', { name: 'SQL', exact: true }).click();
    await (await listed).finished();
    await editor(page).click();
    const option = page.locator('.cm-tooltip-autocomplete li');
    await page.keyboard.type('SELECT * FROM session_f');
    await option.getByText('session_facts').waitFor();
    await option.getByText('session_facts').click();
    await page.keyboard.type(' WHERE failed_t');
    expect(await option.getByText('failed_tool_calls').textContent()).toBe('failed_tool_calls');
    await expect.poll(() => option.count()).toBe(1);
    await option.click();
    await page.keyboard.type(' > 0 AND session_facts.user_t');
    await option.getByText('user_turns').waitFor();
    await page.keyboard.press('Escape');
    expect(await editor(page).textContent()).toBe(
      'SELECT * FROM session_facts WHERE failed_tool_calls > 0 AND session_facts.user_t',
    );
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Run');
  });

  /** 200 if another query gets the one place, 503 if not. Its answer is read to its end, which gives the place back. */
  const placeStatus = async () => {
    const answer = await post({ sql: 'SELECT 1 AS one' });
    await answer.text();
    return answer.status;
  };

  test('cancels a query on the service too', async () => {
    const page = await site.signedIn(key, 'sql');
    await write(page, ENDLESS);
    // The one query that runs must be the page's, not the first of the others.
    const queries = vi.spyOn(Queries.prototype, 'run');
    onTestFinished(() => queries.mockRestore());
    const asked = () => queries.mock.calls.filter(([{ sql }]) => sql === ENDLESS).length;
    await page.keyboard.press('Control+Enter');
    await expect.poll(asked).toBe(1);
    // The service runs one query at a time.
    await expect.poll(placeStatus).toBe(503);
    await press(page, 'Cancel');
    await page.getByText('The query was cancelled.').waitFor();
    await expect.poll(placeStatus).toBe(200);
    await page.keyboard.press('Control+Enter');
    await press(page, 'Run');
    await expect.poll(asked).toBe(2);
    await expect.poll(placeStatus).toBe(503);
    await page.getByRole('link', { name: 'Overview' }).click();
    await expect.poll(placeStatus).toBe(200);
  });

  test('has the first rows of many, with a page of them at a time, and files with all', async () => {
    const page = await site.signedIn(key, 'sql');
    await write(page, 'SELECT i, i % 7 AS rest FROM range(CAST($n AS BIGINT)) AS r (i) ORDER BY i');
    await page.getByLabel('$n').fill('12345');
    await run(page);
    await page.getByRole('heading', { name: 'The first 10,000 rows' }).waitFor();
    expect(await cellsOf(page)).toHaveLength(100);
    await press(page, 'Next');
    expect((await cellsOf(page))[0]).toEqual(['100', '2']);
    const csv = (await saved(page, 'CSV')).toString().trimEnd().split('\r\n');
    expect([csv.length, csv[0], csv.at(-1)]).toEqual([12_346, 'i,rest', '12344,3']);
    const table = tableFromIPC(await saved(page, 'Arrow'));
    expect([table.numRows, table.get(12_344)?.toJSON()]).toEqual([12_345, { i: 12_344n, rest: 3n }]);
    const path = join(temporaryFolder(), 'query.parquet');
    writeFileSync(path, await saved(page, 'Parquet'));
    const connection = await (await DuckDBInstance.create()).connect();
    const rows = await connection.runAndReadAll(`SELECT count(*), max(i) FROM read_parquet('${path}')`);
    expect(rows.getRows()).toEqual([[12_345n, 12_344n]]);
    connection.closeSync();
  });

  test('shows values as they are, and as text', async () => {
    const page = await site.signedIn(key, 'sql');
    await write(
      page,
      `SELECT NULL AS nothing, '' AS empty, '<img src=x onerror="document.title=1">' AS markup, '=1+1' AS "=formula",
        9007199254740993 AS large, -5 AS negative, [0.1, 9007199254740993.25] AS list, {'a': 'b'} AS struct,
        TIMESTAMP '2026-07-01 10:00:00' AS instant, DATE '2026-07-01' AS day, 'say "=hi", then' AS quoted, '"=1"' AS again`,
    );
    await run(page);
    const texts = await page.locator('.answer tbody td').allTextContents();
    expect(texts).toEqual([
      ...['NULL', '', '<img src=x onerror="document.title=1">', '=1+1', '9,007,199,254,740,993', '-5'],
      ...['[0.1,9007199254740993.25]', '{"a":"b"}', '2026-07-01 10:00:00', '2026-07-01'],
      ...['say "=hi", then', '"=1"'],
    ]);
    expect((await cellsOf(page))[0]?.slice(0, 2)).toEqual([null, '']);
    expect(await page.locator('.answer thead th', { hasText: 'instant' }).textContent()).toContain('UTC');
    expect(await page.title()).toBe('SQL · Daybook');
    expect((await saved(page, 'CSV')).toString()).toBe(
      `nothing,empty,markup,'=formula,large,negative,list,struct,instant,day,quoted,again\r\n,,"<img src=x onerror=""document.title=1"">",'=1+1,9007199254740993,-5,"[0.10,9007199254740993.25]","{""a"":""b""}",2026-07-01T10:00:00Z,2026-07-01,"say ""=hi"", then","""=1"""\r\n`,
    );
  });

  test('says what is wrong with a statement, and where', async () => {
    const page = await site.signedIn(key, 'sql');
    const marked = page.locator('.editor .fault');
    for (const [sql, sentence, part] of [
      ["SELECT '😀' AS a FROM WHERE", 'Syntax error at or near "WHERE", at character 22.', 'WHERE'],
      ['SELECT tool_callz FROM users', 'Referenced column "tool_callz" not found', 'tool_callz'],
      ['SELECT u.nix FROM users AS u', 'does not have a column named "nix"', 'nix'],
      ['SELECT 1 FROM userz', 'There is no table userz', 'userz'],
    ] as const) {
      await write(page, sql);
      await page.keyboard.press('Control+Enter');
      await page.getByRole('alert').getByText(sentence).waitFor();
      await expect.poll(() => marked.textContent()).toBe(part);
    }
    await page.keyboard.insertText(' ');
    await expect.poll(() => marked.count()).toBe(0);
    // The browser itself notes answers that are errors.
    const isNoted = (text: string) => /status of 400/.test(text);
    site.complaints.splice(0, Infinity, ...site.complaints.filter((text) => !isNoted(text)));
  });

  test('shows the statement of a link as text, and runs nothing before somebody says so', async () => {
    const sql = "SELECT '<img src=x onerror=alert(1)>' AS a, $b AS b";
    const search = new URLSearchParams({ sql, $b: '</script><b>' });
    const asked: string[] = [];
    const page = await site.open();
    page.on('request', (request) => {
      if (request.method() === 'POST') asked.push(new URL(request.url()).pathname);
    });
    await page.goto(`${site.url}/sql?${search}`);
    await page.getByLabel('API key').fill(key);
    await press(page, 'Sign in with this key');
    await expect.poll(() => editor(page).textContent()).toBe(sql);
    expect(await page.getByLabel('$b').inputValue()).toBe('</script><b>');
    await page.reload();
    await expect.poll(() => editor(page).textContent()).toBe(sql);
    await page.getByRole('link', { name: 'Trust' }).click();
    await page.getByRole('link', { name: 'SQL', exact: true }).click();
    await expect.poll(() => editor(page).textContent()).toBe(sql);
    await page.waitForLoadState('networkidle');
    expect(asked).toEqual(['/sign-in']);
    expect(await page.locator('.result').count()).toBe(0);
    await run(page);
    expect(asked).toEqual(['/sign-in', '/api/v1/sql']);
  });

  test('keeps what is written: Back leads to the statement before, and a long one is no part of the address', async () => {
    const page = await site.signedIn(key, 'sql');
    await write(page, 'SELECT 1 AS first');
    await page.waitForURL(/first/);
    await press(page, 'Which hooks block agents?');
    await page.waitForURL(/hook_runs/);
    await page.goBack();
    await expect.poll(() => editor(page).textContent()).toBe('SELECT 1 AS first');
    const long = `SELECT ${Array.from({ length: 900 }, (_, index) => `${index} AS a${index}`).join(', ')}`;
    await write(page, long);
    await page.getByText('This statement is too long for the address').waitFor();
    await page.waitForURL((url) => !url.search.includes('sql='));
    await page.reload();
    await expect.poll(() => editor(page).textContent()).toContain('SELECT 0 AS a0, 1 AS a1');
    await page.getByText('This statement is too long for the address').waitFor();
  });

  test('has no fault that axe finds', async () => {
    const page = await site.signedIn(key, 'sql');
    await expectSound(page);
    await press(page, 'What does each user cost per month?');
    await run(page);
    await expectSound(page);
    await editor(page).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\nLIMIT use');
    await page.locator('.cm-tooltip-autocomplete li').first().waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await faultsOf(page)).toEqual([]);
    }
    await page.keyboard.press('Escape');
    await page.emulateMedia({ media: 'print' });
    expect(await editor(page).isVisible()).toBe(false);
    expect(await page.locator('.printed').textContent()).toContain('FROM user_costs');
    expect(await page.locator('.printed').isVisible()).toBe(true);
  });

  test('is for roles that may use it', async () => {
    const member = await site.key('member', 'amber-finch');
    const page = await site.signedIn(member.key, 'sql?sql=SELECT+1');
    await page.getByText('Your role sees your own numbers only.').waitFor();
    expect(await page.getByRole('link', { name: 'SQL', exact: true }).count()).toBe(0);
    expect(await page.locator('.editor').count()).toBe(0);
  });
});

test.runIf(hasBrowser)(
  'before the first publication, the page of SQL says when there are answers',
  async () => {
    const site = await Site.start(onTestFinished, { events: [event('1')] });
    const { key } = await site.key('owner');
    const page = await site.signedIn(key, `sql?sql=${encodeURIComponent('SELECT 1 AS one')}`);
    await press(page, 'Run');
    const problem = page
      .getByRole('alert')
      .filter({ hasText: 'No day of your organization is published yet' });
    await problem.getByText('days are published after the nightly build, or after daybook build').waitFor();
    await site.publish();
    await problem.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: '1 row' }).waitFor();
    expect(site.complaints.filter((text) => !/status of 503/.test(text))).toEqual([]);
  },
);
