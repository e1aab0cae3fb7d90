import { useMemo, useState } from 'preact/hooks';
import { locale } from './format.js';
import { type Column, digitsOf, type Kind, kindOf, numberOf, type Row, textOf } from './sql-answer.js';
import { valueText } from './sql-format.js';

/** How many rows are rendered at a time. */
const PAGE = 100;

/** The rows of an answer, one page at a time. */
export function SqlRows({ columns, rows }: { columns: readonly Column[]; rows: readonly Row[] }) {
  const [first, setFirst] = useState(0);
  const shown = rows.slice(first, first + PAGE);
  const kinds = columns.map(kindOf);
  const isGrouped = useMemo(
    () => columns.map(({ name }) => rows.some((row) => Math.abs(numberOf(row[name]) ?? 0) >= 10_000)),
    [columns, rows],
  );
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard scrolls the element that has the focus. */}
      <section class="scrolls answer" aria-label="Rows of the answer" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {columns.map((column, index) => (
                <th key={column.name} scope="col" class={kinds[index] === 'number' ? 'number' : ''}>
                  <bdi>{column.name}</bdi>
                  <span class="note">{kinds[index] === 'instant' ? `${column.type}, UTC` : column.type}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              <tr key={first + index}>
                {columns.map(({ name }, at) => (
                  <Cell key={name} value={row[name]} kind={kinds[at] ?? 'text'} isGrouped={isGrouped[at]} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > PAGE && (
        <>
          <p class="note">
            Rows {(first + 1).toLocaleString(locale)} to {(first + shown.length).toLocaleString(locale)}
          </p>
          <p class="paging">
            <button type="button" disabled={first === 0} onClick={() => setFirst(first - PAGE)}>
              Previous
            </button>
            <button
              type="button"
              disabled={first + PAGE >= rows.length}
              onClick={() => setFirst(first + PAGE)}
            >
              Next
            </button>
          </p>
        </>
      )}
    </>
  );
}

function Cell({ value, kind, isGrouped }: { value: unknown; kind: Kind; isGrouped: boolean | undefined }) {
  const side = kind === 'number' ? 'number' : '';
  if (value === null || value === undefined) return <td class={`${side} null`}>NULL</td>;
  const text = valueText(value, kind, isGrouped);
  return (
    <td
      class={side}
      data-value={digitsOf(value) ?? textOf(value)}
      title={text.length > 60 ? text : undefined}
    >
      <bdi>{text}</bdi>
    </td>
  );
}
