import type { Answers } from './answers.js';
import { analyticsPath, useAnswer } from './client.js';
import type { Range } from './days.js';
import { cell, exactly, longMonth } from './format.js';
import { Panel } from './panel.js';
import { ScrolledTable } from './scrolled-table.js';

type Row = Extract<Answers['getAnalyticsCoverage']['data'][number], { billed_usd: unknown }>;
type Vendor = Answers['getVendors']['vendors'][number]['vendor'];

export const VENDOR_NAMES: Readonly<Record<Vendor, string>> = {
  anthropic: 'Anthropic API',
  'anthropic-enterprise': 'Anthropic Enterprise',
  cursor: 'Cursor',
  github: 'GitHub',
  openai: 'OpenAI Codex',
  'openai-api': 'OpenAI API',
};

/** Of whom a bill is. */
const BILLERS: Readonly<Record<string, string>> = {
  anthropic: 'Anthropic',
  cursor: 'Cursor',
  github: 'GitHub',
  openai: 'OpenAI',
};

const COLUMNS = ['Month', 'Billed', 'Events', 'Share', 'Tokens, share'];

const nameOfRow = ({ vendor, agent }: Row) => {
  const biller = BILLERS[vendor] ?? (vendor || 'a vendor');
  return agent === '' ? `${biller}’s bill` : agent;
};

/** What vendors say that the organization used, and how much of it events of better channels have. */
export function VendorBills({ range }: { range: Range }) {
  const asked = useAnswer<{ data: Row[] }>(analyticsPath('coverage', range, { group_by: 'vendor' }));
  const rows = asked.answer?.data ?? [];
  const told = rows.filter(({ captured_cost_ratio }) => captured_cost_ratio !== null);
  return (
    <Panel
      name="vendor-bills"
      title="What vendors bill"
      note="before discounts, against list prices of what events have"
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: ['Of', 'Month', 'Days', 'To be paid', 'Billed', 'Events', 'Share', 'Tokens, share'],
          dollars: ['To be paid', 'Billed', 'Events'],
          rows: rows.map((row) => [
            ...[nameOfRow(row), row.month, row.days, row.billed_usd, row.gross_usd],
            ...[row.captured_usd, row.captured_cost_ratio, row.captured_ratio],
          ]),
        }
      }
      definition="report/coverage_by_vendor"
      span={12}
    >
      {rows.length === 0 ? (
        <p class="note none">
          {asked.answer === undefined
            ? '–'
            : 'No vendor says anything of this range: an owner can have vendors’ APIs pulled.'}
        </p>
      ) : (
        <ScrolledTable label="Rows of bills" columns={['Of', ...COLUMNS]} numbers={COLUMNS.slice(1)}>
          {rows.map((row) => (
            <tr key={`${row.vendor} ${row.agent} ${row.month}`}>
              <th scope="row">{nameOfRow(row)}</th>
              <td>{longMonth(row.month)}</td>
              <td class="number">{cell(row.gross_usd, 'dollars')}</td>
              <td class="number">{cell(row.captured_usd, 'dollars')}</td>
              <td class="number strong">{exactly(row.captured_cost_ratio, 'share')}</td>
              <td class="number">{exactly(row.captured_ratio, 'share')}</td>
            </tr>
          ))}
        </ScrolledTable>
      )}
      {told.map((row) => (
        <p key={`${row.vendor} ${row.agent} ${row.month}`} class="note">
          {sentenceOf(row)}
        </p>
      ))}
    </Panel>
  );
}

/** What a share means, in words. */
function sentenceOf({ vendor, agent, month, captured_cost_ratio }: Row): string {
  const biller = BILLERS[vendor] ?? 'its vendor';
  const whose = agent === '' ? `${biller}’s agents` : agent;
  return `${whose}: events have ${exactly(captured_cost_ratio, 'share')} of what ${biller} billed in ${longMonth(month)}.`;
}
