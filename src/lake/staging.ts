import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Day } from '../day.js';
import { quote } from '../store/sql.js';
import type { Store } from '../store/store.js';
import { columnsOf, type LakeTable, orderOf } from './place.js';

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
    const inFile = columnsOf(table).filter(({ name }) => name !== 'org_id' && name !== 'day');
    const columns = inFile.map(({ name, type }) => `CAST(${name} AS ${type}) AS ${name}`);
    const select = (names: readonly string[], order: readonly string[]) =>
      `SELECT ${names.join(', ')} FROM of_days${order.length === 0 ? '' : ` ORDER BY ${order.join(', ')}`}`;
    const sourceOf = (of: readonly Day[]) => ({
      of_days: `SELECT day, ${inFile.map(({ name }) => name).join(', ')} FROM ${table}
        WHERE org_id = ${quote(orgId)} AND day IN (${of.map(quote).join(', ')})`,
    });
    const path = join(this.folder, table);
    const order = orderOf(table);
    const files = new Map(days.map((day) => [day, join(path, `day=${day}`, 'data_0.parquet')]));
    const [first, ...others] = filled;
    if (first !== undefined && others.length === 0) {
      files.set(first, `${path}.parquet`);
      await store.copy(select(columns, order), sourceOf(filled), `${path}.parquet`);
    } else if (first !== undefined)
      await store.copy(select(['day', ...columns], ['day', ...order]), sourceOf(filled), path, ['day']);
    for (const file of files.values()) {
      if (existsSync(file)) continue;
      let bytes = this.empty.get(table);
      if (bytes === undefined) {
        const draft = `${path}-empty.parquet`;
        await store.copy(`${select(columns, [])} LIMIT 0`, sourceOf(days.slice(0, 1)), draft);
        bytes = readFileSync(draft);
        this.empty.set(table, bytes);
      }
      mkdirSync(dirname(file), { recursive: true });
      await writeFile(file, bytes);
    }
    return files;
  }
}
