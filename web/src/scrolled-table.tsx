import type { ComponentChildren } from 'preact';

interface ScrolledTableProps {
  readonly label: string;
  readonly columns: readonly ComponentChildren[];
  /** The columns, of those above, that have numbers. */
  readonly numbers?: readonly ComponentChildren[];
  readonly class?: string;
  /** Its rows. */
  readonly children: ComponentChildren;
}

/** A table that scrolls where it is wider than its panel, with the keyboard too. */
export function ScrolledTable({ label, columns, numbers = [], class: name, children }: ScrolledTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and whoever has no mouse scrolls what has the focus.
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
