import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Day } from '../day.js';
import { quote } from '../store/sql-text.js';
import type { Sources, Store } from '../store/store.js';
import { columnsOf, type LakeTable, orderOf } from './lake-paths.js';

/** Where files are written before they are put in place: in the lake, so that they only need another name. */
export class Staging {
  /** Files without rows, by the table that they are of. */
  private readonly empty = new Map<LakeTable, Buffer>();

  constructor(private readonly folder: string) {}

  async open(): Promise<void> {
    await this.clear();
    mkdirSync(this.folder);
  }

  async clear(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Writes a table's rows of some days, and answers the paths of the files, by day. `filled` are those that can have rows. */
  async write(
    store: Store,
    table: LakeTable,
    orgId: string,
    days: readonly Day[],
    filled: readonly Day[],
  ): Promise<Map<Day, string>> {
    const path = join(this.folder, table);
    const order = orderOf(table);
    const files = new Map(days.map((day) => [day, join(path, `day=${day}`, 'data_0.parquet')]));
    const [first, ...others] = filled;
    if (first !== undefined && others.length === 0) {
      files.set(first, `${path}.parquet`);
      await store.copy(select(table, [], order), sourceOf(table, orgId, filled), `${path}.parquet`);
    } else if (first !== undefined)
      await store.copy(select(table, ['day'], ['day', ...order]), sourceOf(table, orgId, filled), path, [
        'day',
      ]);
    for (const file of files.values()) {
      if (existsSync(file)) continue;
      let bytes = this.empty.get(table);
      if (bytes === undefined) {
        const draft = `${path}-empty.parquet`;
        const source = sourceOf(table, orgId, days.slice(0, 1));
        await store.copy(`${select(table, [], [])} LIMIT 0`, source, draft);
        bytes = readFileSync(draft);
        this.empty.set(table, bytes);
      }
      mkdirSync(dirname(file), { recursive: true });
      await writeFile(file, bytes);
    }
    return files;
  }

  /** Writes a table's rows of some days to one file, each with its day, and answers its path. */
  async writeTogether(store: Store, table: LakeTable, orgId: string, days: readonly Day[]): Promise<string> {
    const path = join(this.folder, `${table}-together.parquet`);
    await rm(path, { force: true });
    const day = 'CAST(day AS DATE) AS day';
    await store.copy(select(table, [day], ['day', ...orderOf(table)]), sourceOf(table, orgId, days), path);
    return path;
  }
}

/** The columns of a table that are in its files, whichever days they have. */
function columnsInFile(table: LakeTable) {
  return columnsOf(table).filter(({ name }) => name !== 'org_id' && name !== 'day');
}

function select(table: LakeTable, first: readonly string[], order: readonly string[]): string {
  const columns = columnsInFile(table).map(({ name, type }) => `CAST(${name} AS ${type}) AS ${name}`);
  const ordered = order.length === 0 ? '' : ` ORDER BY ${order.join(', ')}`;
  return `SELECT ${[...first, ...columns].join(', ')} FROM of_days${ordered}`;
}

function sourceOf(table: LakeTable, orgId: string, days: readonly Day[]): Sources {
  const names = columnsInFile(table).map(({ name }) => name);
  const among = days.length === 0 ? '1 = 0' : `day IN (${days.map(quote).join(', ')})`;
  return {
    of_days: `SELECT day, ${names.join(', ')} FROM ${table} WHERE org_id = ${quote(orgId)} AND ${among}`,
  };
}
