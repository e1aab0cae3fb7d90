import { namesIn, withSources } from '../sql-text.js';
import type { Parameters } from '../store.js';
import { type Counted, isCounted, type Kind } from './counted-numbers.js';

/** How a view says which rows count: its text is the same whether one process writes to the database or several. */
const COUNTS = /\b(own_)?(batch|build)_counts\(((?:(\w+)\.)?\w+)\)/g;

/** A name that a WITH gives a meaning. */
const GIVEN = /\b(\w+) AS (?:MATERIALIZED )?\(/g;

/** The last rows that one process writes, which make a batch or build count, and the column of its number. */
const LAST_ROWS = { batch: 'batch) FROM batches_rows', build: 'version) FROM days_rows' };

/** A view's text for a database that one process writes to: the last rows are in it. */
export function countedByLastRow(text: string): string {
  return text.replace(COUNTS, (_, own: string | undefined, kind: Kind, column: string) => {
    const isKept = `${column} NOT IN (SELECT number FROM abandoned WHERE kind = '${kind}')`;
    return own === undefined ? `${column} <= (SELECT max(${LAST_ROWS[kind]}) AND ${isKept}` : isKept;
  });
}

/** The same for several: the numbers are named, and where the organization is known, only its rows are looked at. */
function countedByNumber(text: string, counted: Counted, parameters: Parameters): string {
  return text.replace(
    COUNTS,
    (_, _own: string | undefined, kind: Kind, column: string, table: string | undefined) => {
      const counts = isCounted(counted[kind], column);
      return (parameters.org_id ?? null) !== null
        ? `${counts} AND ${table === undefined ? '' : `${table}.`}org_id = $org_id`
        : counts;
    },
  );
}

/** The text that a name in FROM or JOIN means; undefined if it means what it does for everybody. */
export type Meaning = (name: string) => string | undefined;

/**
 * Queries as one reader asks them: names of tables mean the rows that count for it, or those that only it sees. A view that reads such a
 * name, directly or not, means its own query.
 */
export class Names {
  private readonly known = new Map<string, boolean>();

  constructor(
    private readonly views: ReadonlyMap<string, string>,
    /** undefined where the views of the database say what counts. */
    private readonly counted: Counted | undefined,
    private readonly own: Meaning = () => undefined,
  ) {}

  /** The same, where some names mean something else. */
  with(own: Meaning): Names {
    return new Names(this.views, this.counted, (name) => own(name) ?? this.own(name));
  }

  /** A SELECT as this reader asks it. */
  spell(sql: string, parameters: Parameters = {}): string {
    const meanings = new Map<string, string>();
    // What a text gives a meaning itself has that.
    const given = new Set([...sql.matchAll(GIVEN)].map(([, name = '']) => name));
    const collect = (text: string) => {
      for (const name of namesIn(text)) {
        if (meanings.has(name) || given.has(name)) continue;
        const meaning = this.meaningOf(name);
        if (meaning === undefined) continue;
        collect(meaning);
        meanings.set(name, this.counts(meaning, parameters));
      }
    };
    collect(sql);
    return withSources(this.counts(sql, parameters), Object.fromEntries(meanings));
  }

  private counts(text: string, parameters: Parameters): string {
    return this.counted === undefined
      ? countedByLastRow(text)
      : countedByNumber(text, this.counted, parameters);
  }

  private meaningOf(name: string): string | undefined {
    return this.own(name) ?? (this.isOwn(name) ? this.views.get(name) : undefined);
  }

  /** Whether a view means something else than for everybody. */
  private isOwn(name: string): boolean {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const text = this.views.get(name);
    const found =
      this.own(name) !== undefined ||
      (text !== undefined &&
        ((this.counted !== undefined && text.search(COUNTS) >= 0) ||
          [...namesIn(text)].some((other) => other !== name && this.isOwn(other))));
    this.known.set(name, found);
    return found;
  }
}
