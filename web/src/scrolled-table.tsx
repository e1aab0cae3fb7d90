import type { ComponentChildren } from 'preact';

interface ScrolledTableProps {
  readonly label: string;
  readonly columns: readonly ComponentChildren[];
  /** Those of the columns that have numbers. */
  readonly numbers?: readonly ComponentChildren[];
  readonly class?: string;
  /** Its rows. */
  readonly children: ComponentChildren;
}

/** A table that scrolls if it is wider than its panel, with the keyboard too. */
export function ScrolledTable({ label, columns, numbers = [], class: name, children }: ScrolledTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard scrolls the element that has the focus.
    <section class="scrolls" aria-label={label} tabIndex={0}>
      <table class={name}>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={index} scope="col" class={numbers.includes(column) ? 'number' : ''}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
