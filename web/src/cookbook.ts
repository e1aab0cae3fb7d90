/** The SQL of the cookbook of this version of Daybook. */
const TEXTS = import.meta.glob<string>('../../sql/cookbook/*.sql', {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** A question of the cookbook. */
export interface Recipe {
  /** The first line of its comment. */
  readonly question: string;
  readonly sql: string;
}

export const RECIPES: readonly Recipe[] = Object.values(TEXTS).map((sql) => ({
  question: sql.slice(0, sql.indexOf('\n')).replace(/^-- /, ''),
  sql: sql.trimEnd(),
}));
