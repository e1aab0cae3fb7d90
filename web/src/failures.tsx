import { comparedWith, hrefOf, toggled } from './address.js';
import { cell, changeIn, exactly, nameOf } from './format.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { SortedHead } from './sorted-head.js';
import { JOINED, useSummary, useTotal } from './summary.js';

/** How many rows a table has. */
const LISTED = 100;
const COLUMNS = [
  ['tool_calls', 'Calls', 'count'],
  ['failed_calls', 'Failed calls', 'count'],
  ['failed_call_ratio', 'Failed', 'rate'],
] as const;

interface FailuresProps extends RangeProps {
  readonly filter: 'tool' | 'mcp_server';
  readonly title: string;
  readonly one: string;
}

/** The calls of each tool or MCP server, and the share that failed. Those with the most failures come first: a rare one with a high share isn't. */
export function Failures({ address, last, filter, title, one }: FailuresProps) {
  const wanted = address.choices.sort ?? '';
  const sort = COLUMNS.some(([member]) => member === wanted.split(':')[0]) ? wanted : 'failed_calls';
  const [sorted] = sort.split(':');
  const query = { groupBy: filter, sort, limit: LISTED, compare: comparedWith(address) } as const;
  const asked = useSummary(address, last, query);
  const total = useTotal(address, last).answer?.data[0];
  const rows = asked.answer?.data ?? [];
  const most = Math.max(...rows.map(({ failed_call_ratio }) => failed_call_ratio ?? 0));
  const all = filter === 'tool' && rows.length > 0 ? total : undefined;
  return (
    <Panel
      name={`failures-of-${filter === 'tool' ? 'tools' : 'servers'}`}
      title={title}
      note={
        all === undefined
          ? undefined
          : `${exactly(all.failed_calls, 'count')} of ${exactly(all.calls_with_outcome, 'count')} calls with a known outcome failed`
      }
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: [one, ...COLUMNS.map(([, name]) => name), 'Failed before'],
          rows: rows.map((row) => [
            row.group_key ?? '',
            ...COLUMNS.map(([member]) => row[member]),
            row.previous?.failed_call_ratio ?? null,
          ]),
        }
      }
      definition="report/summary"
      span={12}
    >
      <div class="scrolls">
        <table class="groups">
          <thead>
            <tr>
              <th scope="col">{one}</th>
              {COLUMNS.map(([member, name]) => (
                <SortedHead key={member} address={address} sort={sort} member={member} name={name} />
              ))}
              <th scope="col" class="number">
                Change
              </th>
              <th scope="col" class="failed">
                Failed share
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.group_key} data-key={row.group_key}>
                <th scope="row" class="named">
                  {row.group_key === JOINED ? (
                    row.group_key
                  ) : (
                    <a
                      href={hrefOf({
                        ...toggled({ ...address, filters: {} }, filter, row.group_key || '(none)'),
                        ...{ path: [], choices: {} },
                      })}
                      title={row.group_key ?? ''}
                    >
                      <bdi>{nameOf(filter, row.group_key)}</bdi>
                    </a>
                  )}
                </th>
                {COLUMNS.map(([member, , unit]) => (
                  <td key={member} class={member === sorted ? 'number strong' : 'number'}>
                    {cell(row[member], unit)}
                  </td>
                ))}
                <td class="number soft">
                  {changeIn('rate', row.failed_call_ratio, row.previous?.failed_call_ratio)}
                </td>
                <td class="failed">
                  <i style={{ width: most > 0 ? `${(100 * (row.failed_call_ratio ?? 0)) / most}%` : '0' }} />
                </td>
              </tr>
            ))}
          </tbody>
          {all !== undefined && (
            <tfoot>
              <tr>
                <th scope="row">All tools</th>
                {COLUMNS.map(([member, , unit]) => (
                  <td key={member} class="number">
                    {cell(all[member], unit)}
                  </td>
                ))}
                <td class="number soft">
                  {changeIn('rate', all.failed_call_ratio, all.previous?.failed_call_ratio)}
                </td>
                <td class="failed" />
              </tr>
            </tfoot>
          )}
        </table>
        {asked.answer !== undefined && rows.length === 0 && <p class="note none">None in this range.</p>}
      </div>
      {asked.answer?.meta.has_more && <p class="note">Only the first {LISTED} are shown.</p>}
    </Panel>
  );
}
