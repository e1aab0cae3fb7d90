import type { ComponentChildren } from 'preact';
import { UNKNOWN } from './format.js';

export interface BarRow {
  readonly key: string;
  readonly name: string;
  /** The target of a click: a filter, or a page. */
  readonly href?: string | undefined;
  readonly isChosen?: boolean;
  /** The length of the bar, which is also the value in the chart's table. */
  readonly value: number | null;
  readonly cells: readonly string[];
}

interface BarListProps {
  /** The headings of the name and of the cells. */
  readonly columns: readonly string[];
  readonly rows: readonly BarRow[];
  readonly more?: ComponentChildren | undefined;
  /** Whether the rows have arrived. Until then their space is reserved. */
  readonly isKnown: boolean;
  /** The text if there are no rows. */
  readonly none?: string;
}

/** A list of names on bars. */
export function BarList({ columns, rows, more, isKnown, none = 'None in this range.' }: BarListProps) {
  const [first, ...others] = columns;
  const most = Math.max(...rows.map(({ value }) => value ?? 0));
  if (!isKnown) return <p class="note none waits">{UNKNOWN}</p>;
  if (rows.length === 0) return <p class="note none">{none}</p>;
  return (
    <>
      <table class="list">
        <thead>
          <tr>
            <th scope="col">{first}</th>
            {others.map((column) => (
              <th key={column} scope="col" class="number">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, href, isChosen = false, value, cells }) => (
            <tr key={key} data-key={key} data-value={value}>
              <th scope="row" class="bar">
                <i style={{ width: most > 0 ? `${(100 * (value ?? 0)) / most}%` : '0' }} />
                {href === undefined ? (
                  <span title={key}>{name}</span>
                ) : (
                  <a href={href} aria-current={isChosen ? 'true' : undefined} title={key}>
                    {name}
                  </a>
                )}
              </th>
              {cells.map((cell, index) => (
                <td key={index} class={`number ${index === 0 ? 'strong' : 'soft'}`}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {more !== undefined && more !== false && <p class="note">{more}</p>}
    </>
  );
}
