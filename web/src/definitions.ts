/** The SQL of every day table, answer and cookbook question, as this version of Daybook computes them. Loaded on demand. */
const TEXTS = import.meta.glob<string>(
  ['../../sql/daily/*.sql', '../../sql/report/*.sql', '../../sql/cookbook/*.sql'],
  { query: '?raw', import: 'default', eager: true },
);

/** The text of a definition: `daily/users`. */
export function definitionOf(name: string): string {
  return TEXTS[`../../sql/${name}.sql`] ?? `There is no definition ${name}.`;
}
