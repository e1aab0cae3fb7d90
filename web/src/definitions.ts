/** The SQL of every day table and answer, as this version of Daybook computes them. Loaded when somebody wants to read one. */
const TEXTS = import.meta.glob<string>(['../../sql/daily/*.sql', '../../sql/report/*.sql'], {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** The text of a definition: `daily/users`. */
export function definitionOf(name: string): string {
  return TEXTS[`../../sql/${name}.sql`] ?? `There is no definition ${name}.`;
}
