import { describe, expect, test } from 'vitest';
import { ANSWERS, fileOf, GROUPS } from '../src/api/answer-names.js';
import { shapesOf } from '../src/api/answer-shape.js';
import { knownOrganization, noDataSentence, reportRange } from '../src/api/report-range.js';
import type { Day } from '../src/day.js';
import { shownFirst } from '../src/store/tables.js';
import { columnsOf, type Layout, layOut } from '../src/terminal/text-table.js';

function shown(rows: Record<string, unknown>[], layout: Layout = {}): string[] {
  const { head, lines } = layOut(columnsOf(rows), layout);
  return [head, ...lines];
}

const tools = (names: readonly string[]) =>
  names.map((tool, index) => ({ tool, invocations: 120_000 - 40_000 * index }));

describe('a table', () => {
  test('has numbers to the right with separators, and nothing for null', () => {
    const rows = [
      { user_id: 'ada', tokens: 1_234_567, cost_usd: 12.345, autonomy_ratio: 2, email: null },
      { user_id: 'grace', tokens: 5, cost_usd: 1200, autonomy_ratio: 0.1239, email: 'grace@acme.example' },
    ];
    expect(shown(rows)).toEqual([
      'user_id     tokens  cost_usd  autonomy_ratio  email',
      'ada      1,234,567     12.35           2.000',
      'grace            5  1,200.00           0.124  grace@acme.example',
    ]);
  });

  test('names as many entries of nested members as fit, and counts the others', () => {
    const rows = [
      { date: '2026-06-01', by_tool: tools(['Read', 'Edit', 'Bash']) },
      { date: '2026-06-02', by_tool: [] },
      { date: '2026-06-03', by_tool: tools([`mcp__${'long'.repeat(20)}`, 'Edit']) },
    ];
    expect(shown(rows, { width: 41 })).toEqual([
      'date        by_tool',
      '2026-06-01  Read 120,000, Edit 80,000, +1',
      '2026-06-02',
      '2026-06-03  mcp__longlonglonglonglon…, +1',
    ]);
    expect(shown(rows)[1]).toBe('2026-06-01  Read 120,000, Edit 80,000, Bash 40,000');
  });

  test('leaves zeros of maps out, and counts what has no numbers', () => {
    const rows = [
      {
        clients: { 'terminal-ui': 11, web: 0, '': 2 },
        ratio: { manual: 0.25, auto_high: null },
        restated: [{ at: '2026-06-08T00:15:04.000Z', table: 'users' }],
        built_at: '2026-06-08T00:15:04.000Z',
        languages: [{ language: '', count: 3 }],
      },
    ];
    expect(shown(rows)).toEqual([
      'clients                   ratio         restated  built_at              languages',
      'terminal-ui 11, (none) 2  manual 0.250  1         2026-06-08 00:15:04Z  (none) 3',
    ]);
  });

  test('shows the columns that matter most, in their own order, and the others only if all of those fit', () => {
    const row = { date: '2026-06-01', a: 1, wide_column_name: 2, tokens: 3, b: 4 };
    const first = ['date', 'tokens', 'wide_column_name'];
    expect(shown([row], { width: 18, first })[0]).toBe('date        tokens');
    expect(shown([row], { width: 30, first })[0]).toBe('date        tokens');
    expect(shown([row], { width: 36, first })[0]).toBe('date        wide_column_name  tokens');
    expect(shown([row], { width: 39, first })[0]).toBe('date        a  wide_column_name  tokens');
    expect(layOut(columnsOf([row]), { width: 18, first }).shown).toBe(2);
  });

  test('is never wider than its width, whatever is in it', () => {
    const odd = ['\u001b[31mred', '漢字'.repeat(30), '👩‍💻'.repeat(30), 'a\nb\t', 'x'.repeat(500), ''];
    const rows = odd.map((text, index) => ({
      [`name_${'n'.repeat(30)}`]: text,
      list: [{ text, index }],
      index,
    }));
    const cells = (text: string) => [...text].reduce((sum, char) => sum + (/[ -~…]/.test(char) ? 1 : 2), 0);
    for (const width of [8, 20, 40, 80, 120])
      for (const line of shown(rows, { width })) {
        expect(line).not.toMatch(/\p{Cc}/u);
        // An emoji of several characters is two columns wide.
        expect(cells(line.replaceAll(/👩‍💻/gu, '漢')), `${width}: ${line}`).toBeLessThanOrEqual(width);
      }
  });
});

test('what the answers say is shown first are their columns', () => {
  let named = 0;
  for (const answer of ANSWERS)
    for (const group of [undefined, ...GROUPS[answer]]) {
      const file = fileOf(answer, group);
      const columns = shapesOf(file).map(({ name }) => name);
      const first = [...shownFirst(file)];
      expect(columns, file).toEqual(expect.arrayContaining(first));
      expect(new Set(first).size, file).toBe(first.length);
      if (first.length > 0) named += 1;
    }
  expect(named).toBeGreaterThanOrEqual(8);
});

describe('the range of a report', () => {
  const days = ['2026-03-01', '2026-05-20'] as Day[];
  const last = '2026-06-30' as Day;
  const from = (day: string) => ({ from: day as Day });

  test('is the 30 days up to the newest one with data, or up to the last one that is named', () => {
    expect(reportRange({}, days, last)).toEqual({ from: '2026-04-21', to: '2026-05-20' });
    expect(reportRange({ to: '2026-06-10' as Day }, days, last)).toEqual({
      from: '2026-05-12',
      to: '2026-06-10',
    });
    expect(reportRange(from('2026-05-01'), days, last)).toEqual({ from: '2026-05-01', to: '2026-05-20' });
    expect(reportRange(from('2026-06-01'), days, last)).toEqual({ from: '2026-06-01', to: '2026-06-30' });
    expect(reportRange({}, [], last)).toEqual({ from: '2026-06-01', to: '2026-06-30' });
    expect(reportRange({}, days, last, '2026-05-02' as Day).from).toBe('2026-05-02');
    expect(() => reportRange(from('2026-07-01'), days, last)).toThrow('--from must be 2026-06-30 or earlier');
  });

  test('without data is said, with the days that have some', () => {
    const range = reportRange(from('2026-06-01'), days, last);
    expect(noDataSentence('acme', range, days)).toBe(
      'acme has no events from 2026-06-01 to 2026-06-30: its 2 days with events are between 2026-03-01 and 2026-05-20.',
    );
    expect(noDataSentence('acme', range, [])).toContain('"daybook status" says what waits');
    expect(noDataSentence('acme', reportRange({}, days, last), days)).toBeNull();
  });

  test('is of the only organization, or of a known one', () => {
    expect(knownOrganization(undefined, ['acme'])).toBe('acme');
    expect(knownOrganization('acme', ['acme', 'globex'])).toBe('acme');
    expect(() => knownOrganization(undefined, ['acme', 'globex'])).toThrow(
      'Name an organization with --org: acme, globex.',
    );
    expect(() => knownOrganization('acne', ['acme'])).toThrow(
      'There is no organization acne: the known one is acme.',
    );
    expect(() =>
      knownOrganization(
        'x',
        Array.from({ length: 12 }, (_, n) => `o${n}`),
      ),
    ).toThrow(/o9, and 2 more/);
    expect(() => knownOrganization(undefined, [])).toThrow('There are no events yet');
  });
});
