import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '../arrow/duckdb-driver.js';
import { DATABASE } from '../disk/data-files.js';
import { requireRoom } from '../disk/folder.js';
import { sync } from '../disk/refusals.js';
import { rename, rm } from '../disk/renames.js';
import { STORAGE } from './database-file.js';
import { checkpointBytes, databaseBytes } from './database-size.js';
import { connect, type Session } from './duckdb-session.js';
import type { ReferencePaths } from './reference-data.js';
import { applyChanges } from './schema-change.js';
import { quote } from './sql-text.js';
import type { Sources } from './store.js';

type DefinitionSettings = ReferencePaths & { readonly now: number };

/** How a copy is made: a SELECT in `rows` takes the place of a table's rows. */
type CopyOptions = DefinitionSettings & { readonly rows: Sources };

/** The tables of a database, in order. */
async function tablesIn(session: Session, database: string): Promise<string[]> {
  const rows = await session.select(
    `SELECT table_name FROM duckdb_tables() WHERE database_name = ${quote(database)} AND NOT temporary ORDER BY table_name`,
  );
  return rows.map(({ table_name }) => String(table_name));
}

/**
 * Writes the rows of the open database of a folder to a new file beside it, and answers its name. Nobody may write meanwhile. The engine
 * leaves bytes of changed and deleted rows in a file, whatever is run over it; a new one has only the rows that there are. The name is one that
 * the next start removes if this process is killed.
 */
export async function cleanCopy(writer: Session, folder: string, options: CopyOptions): Promise<string> {
  const { file, log } = databaseBytes(folder);
  await requireRoom(folder, file + log + checkpointBytes(folder), 'Writing the database anew');
  return drafted(folder, options, async (path) => {
    const [own] = await writer.select('SELECT current_database() AS name');
    await writer.run(`ATTACH ${quote(path)} AS clean; SET preserve_insertion_order = true`);
    try {
      const [from, to] = [await tablesIn(writer, String(own?.name)), await tablesIn(writer, 'clean')];
      const missing = from.filter((name) => !to.includes(name));
      if (missing.length > 0)
        throw new Error(
          `the new database has no ${missing.join(', ')}: the tables are not those of this version`,
        );
      for (const table of from) {
        const rows = options.rows[table] ?? `SELECT * FROM ${table}`;
        await writer.run(`DELETE FROM clean.${table}; INSERT INTO clean.${table} BY NAME ${rows}`);
      }
      await writer.run('CHECKPOINT clean');
    } finally {
      await writer.run('DETACH clean; SET preserve_insertion_order = false');
    }
  });
}

/** Writes a database without events beside the open one, and answers its name: see cleanCopy. */
export function emptyCopy(folder: string, settings: DefinitionSettings): Promise<string> {
  return drafted(folder, settings, async () => {});
}

async function drafted(
  folder: string,
  settings: DefinitionSettings,
  fill: (path: string) => Promise<void>,
): Promise<string> {
  const draft = `new-${process.pid}.duckdb`;
  const path = join(folder, draft);
  const discard = async () => {
    for (const name of [path, `${path}.wal`]) await rm(name, { force: true });
  };
  await discard();
  try {
    await define(path, settings);
    await fill(path);
    await sync(path);
    return draft;
  } catch (error) {
    await discard();
    throw error;
  }
}

/** Makes a database with the tables, views and functions of this version. */
async function define(path: string, settings: DefinitionSettings): Promise<void> {
  const instance = await DuckDBInstance.create(path, STORAGE);
  try {
    const session = await connect(instance);
    await applyChanges(session, settings);
    await session.run('CHECKPOINT');
    session.connection.closeSync();
  } finally {
    instance.closeSync();
  }
}

/**
 * Lets the new file take the place of the open database, which must be closed next. TRICKY: while the old file is still open and locked. Another
 * process that opens the name gets the new file, or finds the old one in use; between closing and renaming it would write to a file that is
 * about to go.
 */
export async function exchangeFile(
  writer: Session,
  folder: string,
  draft: string,
  file = DATABASE,
): Promise<void> {
  try {
    await writer.run('CHECKPOINT');
    // A log would be taken for one of the new file.
    if (existsSync(join(folder, `${file}.wal`)))
      throw new Error('the log of the database is not merged into it');
    await writer.run('PRAGMA disable_checkpoint_on_shutdown');
    await rename(join(folder, draft), join(folder, file));
    await sync(folder);
  } catch (error) {
    await rm(join(folder, draft), { force: true });
    throw error;
  }
}
