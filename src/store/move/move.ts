import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { rm } from '../../disk/renames.js';
import { isPublished, PUBLISHED, STATE_TABLES } from '../state/homes.js';
import type { Store } from '../store.js';
import type { MoveTarget } from './move-target.js';
import { comparePiece, type Difference, type Piece, piecesOf, rowsOfPiece } from './moved-pieces.js';
import { compareState, copyStatements, statePieces } from './moved-state.js';
import { type MovedTable, movedTables, NUMBERING, numberingOf } from './moved-tables.js';

/** What a move has copied and compared. Nothing of it counts if there are differences. */
export interface Moved {
  readonly organizations: number;
  readonly events: number;
  readonly days: number;
  /** How many digests were compared: of a table of data for an organization and a day, or of a table of state. */
  readonly digests: number;
  readonly differences: readonly Difference[];
}

/** What a move is made from and goes through. */
interface MoveOptions {
  /** A checksum of the source. */
  readonly checksum: string;
  /** The folder for rows on their way. */
  readonly folder: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly progress: (done: number, total: number) => void;
  /** Called when nobody else moves anything into the databases any more. */
  readonly begun: () => void;
}

/**
 * Copies a store of one process into the databases of several nodes, piece by piece, and compares all of it: whatever is in the source once, is there
 * once. Killed at any moment, it goes on with the piece that it was at. Answers undefined if the source was moved before. A piece that differs is
 * copied again by the next move.
 */
export function move(source: Store, target: MoveTarget, options: MoveOptions): Promise<Moved | undefined> {
  return target.leading(async () => {
    const { clock, checksum, begun } = options;
    begun();
    const [row] = await source.select(NUMBERING);
    const numbering = numberingOf(row, [source.definitions, target.definitions]);
    const tables = movedTables(numbering);
    const copied = await target.begin(checksum, tables, clock());
    if (copied === undefined) return undefined;
    const pieces: Piece[] = [];
    for (const table of tables) pieces.push(...(await piecesOf(source, table)));
    const mover = new Mover(source, target, options, tables, pieces);
    await mover.copy(copied);
    const { digests, differences } = await mover.compare();
    if (differences.length === 0) await target.finish(numbering, clock());
    const [organizations] = await source.select('SELECT count(*) AS organizations FROM organizations');
    return {
      organizations: Number(organizations?.organizations),
      events: rowsIn(pieces, 'events'),
      days: rowsIn(pieces, 'days'),
      digests,
      differences,
    };
  });
}

function rowsIn(pieces: readonly Piece[], name: string): number {
  return pieces.reduce((rows, { table, rows: more }) => rows + (table.name === name ? more : 0), 0);
}

class Mover {
  private done = 0;
  private readonly total: number;

  constructor(
    private readonly source: Store,
    private readonly target: MoveTarget,
    private readonly options: MoveOptions,
    private readonly tables: readonly MovedTable[],
    private readonly pieces: readonly Piece[],
  ) {
    // Each row is copied and compared.
    this.total = 2 * pieces.reduce((rows, piece) => rows + piece.rows, 0);
  }

  private did(rows: number): void {
    this.done += rows;
    this.options.progress(this.done, this.total);
  }

  async copy(copied: ReadonlySet<string>): Promise<void> {
    const { source, target } = this;
    for (const table of STATE_TABLES)
      for (const first of await statePieces(source, table)) {
        const piece = `${table} ${first}`;
        if (!copied.has(piece)) await target.keepState(piece, await copyStatements(source, table, first));
      }
    await target.publisher.publish();
    for (const piece of this.pieces) {
      if (!copied.has(piece.name)) await this.copyPiece(piece);
      this.did(piece.rows);
    }
  }

  private async copyPiece(piece: Piece): Promise<void> {
    const { source, target, options } = this;
    // A killed process may leave a file of this name: see isSpool.
    const path = join(options.folder, `rows-moved_${randomUUID().replaceAll('-', '')}.parquet`);
    try {
      if (piece.rows > 0) await source.copy(rowsOfPiece(piece), {}, path);
      await target.replaceData(piece.table, piece.condition, piece.rows > 0 ? path : undefined);
    } finally {
      await rm(path, { force: true });
    }
    await target.note(piece.name, true);
  }

  /** Compares all rows, on each server. A piece that differs isn't noted as copied any more. */
  async compare(): Promise<Pick<Moved, 'digests' | 'differences'>> {
    const differences: Difference[] = await this.compareState();
    let digests = STATE_TABLES.length;
    const { source, target } = this;
    const { servers } = target;
    for (const piece of this.pieces) {
      const found = new Map<string, Difference>();
      for (const server of servers) {
        const compared = await comparePiece(source, server, piece);
        digests += server === servers[0] ? compared.digests : 0;
        for (const one of compared.differences) found.set(`${one.orgId} ${one.day}`, one);
      }
      if (found.size > 0) await target.note(piece.name, false);
      differences.push(...found.values());
      this.did(piece.rows);
    }
    if (differences.length === 0)
      for (const server of servers) differences.push(...(await this.findOthers(server)));
    return { digests, differences };
  }

  /** Rows that are in no piece. */
  private async findOthers(server: Pick<Store, 'select'>): Promise<Difference[]> {
    const counts = this.tables.map(
      ({ name, into }) => `SELECT '${name}' AS name, count(*) AS rows FROM ${into}`,
    );
    const found = await server.select(counts.join(' UNION ALL '));
    const there = new Map(found.map(({ name, rows }) => [String(name), Number(rows)]));
    return this.tables.flatMap(({ name }) => {
      const rows = [rowsIn(this.pieces, name), there.get(name) ?? 0] as const;
      return rows[0] === rows[1] ? [] : [{ table: name, orgId: null, day: null, rows }];
    });
  }

  private async compareState(): Promise<Difference[]> {
    const { source, target } = this;
    const differences: Difference[] = [];
    for (const table of STATE_TABLES) {
      const { isSame, rows } = await compareState(source, target.state, table);
      const shown = isPublished(table) ? await this.comparePublished(table) : undefined;
      if (isSame && shown === undefined) continue;
      for (const first of await statePieces(source, table)) await target.note(`${table} ${first}`, false);
      differences.push({ table, orgId: null, day: null, rows: shown ?? rows });
    }
    return differences;
  }

  /** How many keys a published table has here, and how many ClickHouse shows, if they aren't as many. */
  private async comparePublished(table: string): Promise<readonly [number, number] | undefined> {
    const keys = `SELECT count(*) AS rows FROM (SELECT DISTINCT ${PUBLISHED[table]?.join(', ')} FROM ${table}) AS known`;
    const [here] = await this.source.select(keys);
    for (const server of this.target.servers) {
      const [there] = await server.select(keys);
      if (here?.rows !== there?.rows) return [Number(here?.rows), Number(there?.rows)];
    }
    return undefined;
  }
}
