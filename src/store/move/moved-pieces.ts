import type { Day } from '../../day.js';
import { rowText } from '../row-digest.js';
import type { Row, Store } from '../store.js';
import type { MovedTable } from './moved-tables.js';

/** How many rows a piece has, unless one day has more. */
const ROWS = 500_000;

/** Rows of a table that are moved together: those of some days, or all. */
export interface Piece {
  readonly table: MovedTable;
  /** Names it for as long as the source stays as it is. */
  readonly name: string;
  /** Which rows they are, in both databases. */
  readonly condition: string;
  readonly rows: number;
}

/** The pieces of a table in DuckDB. */
export async function piecesOf(source: Pick<Store, 'select'>, table: MovedTable): Promise<Piece[]> {
  const { name, isDaily } = table;
  if (!isDaily) {
    const [all] = await source.select(`SELECT count(*) AS rows FROM ${name}`);
    return [{ table, name, condition: 'true', rows: Number(all?.rows) }];
  }
  const days = await source.select(`SELECT day, count(*) AS rows FROM ${name} GROUP BY day ORDER BY day`);
  const parts: { first: Day; last: Day; rows: number }[] = [];
  for (const row of days) {
    const [day, rows] = [row.day as Day, Number(row.rows)];
    const part = parts.at(-1);
    if (part === undefined || part.rows + rows > ROWS) parts.push({ first: day, last: day, rows });
    else {
      part.last = day;
      part.rows += rows;
    }
  }
  return parts.map(({ first, last, rows }) => ({
    table,
    name: `${name} ${first} ${last}`,
    condition: `day BETWEEN DATE '${first}' AND DATE '${last}'`,
    rows,
  }));
}

/** The SELECT that gives the rows of a piece from DuckDB. */
export function rowsOfPiece({ table, condition }: Piece): string {
  return `${table.select} WHERE ${condition}`;
}

/** The SELECT that digests rows of a piece, by organization and day. Engines that read the same rows give the same. */
function digestsOf({ table: { columns, isDaily } }: Piece, rows: string): string {
  const grain = isDaily ? 'org_id, day' : 'org_id';
  return `SELECT ${grain}, count(*) AS row_count, unordered_digest(row_text) AS digest
FROM (SELECT ${grain}, ${rowText(columns)} AS row_text FROM (${rows}) AS piece_rows) AS row_texts
GROUP BY ${grain}`;
}

/** Rows of an organization, of one day if the table has days, that aren't the same in both databases. */
export interface Difference {
  readonly table: string;
  readonly orgId: string | null;
  readonly day: Day | null;
  readonly rows: readonly [here: number, there: number];
}

function keyOf(row: Row): string {
  return JSON.stringify([row.org_id, row.day ?? null]);
}

/** Compares a piece, and answers how many digests it has, and which differ. */
export async function comparePiece(
  source: Pick<Store, 'select'>,
  target: Pick<Store, 'select'>,
  piece: Piece,
): Promise<{ readonly digests: number; readonly differences: readonly Difference[] }> {
  const { table, condition } = piece;
  const [here, there] = await Promise.all([
    source.select(digestsOf(piece, rowsOfPiece(piece))),
    target.select(digestsOf(piece, `SELECT * FROM ${table.into} WHERE ${condition}`)),
  ]);
  const ours = new Map(here.map((row) => [keyOf(row), row]));
  const theirs = new Map(there.map((row) => [keyOf(row), row]));
  const keys = [...new Set([...ours.keys(), ...theirs.keys()])];
  const differences = keys.flatMap((key) => {
    const [one, other] = [ours.get(key), theirs.get(key)];
    if (one?.digest === other?.digest && one?.row_count === other?.row_count) return [];
    const row = one ?? other;
    return [
      {
        table: table.name,
        orgId: String(row?.org_id),
        day: (row?.day ?? null) as Day | null,
        rows: [Number(one?.row_count ?? 0), Number(other?.row_count ?? 0)] as const,
      },
    ];
  });
  return { digests: keys.length, differences };
}
