import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../config.js';
import type { OrgDay, Sources } from './store.js';

const ROOT = join(PACKAGE_ROOT, 'sql');

/** The text of one file of `sql/`, as `daily/users.sql`. */
export function readSql(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The files of one folder of `sql/`, by name: `{name: 'users', text}`. */
export function readSqlFolder(folder: string): { name: string; text: string }[] {
  return readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: file.slice(0, -'.sql'.length), text: readSql(`${folder}/${file}`) }));
}

/** A text as an SQL string. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A path as a pattern that it alone is like: a reader of files takes each for one. */
export function patternOf(path: string): string {
  return path.replaceAll(/[*?[]/g, '[$&]');
}

/** Days as the rows of a VALUES list. */
export function valuesOf(days: readonly OrgDay[]): string {
  return days.map(({ orgId, day }) => `(${quote(orgId)}, '${day}')`).join(', ');
}

/** A SELECT with the others that it reads from before it. */
export function withSources(sql: string, sources: Sources): string {
  if (Object.keys(sources).length === 0) return sql;
  const texts = Object.entries(sources).map(([name, text]) => `${name} AS (\n${text}\n)`);
  return `WITH ${texts.join(',\n')}\n${sql.replace(/^((?:--.*\n)*)WITH /, '$1, ')}`;
}

/** The statement that writes the rows of a SELECT to Parquet: see Store. */
export function copyOf(sql: string, path: string, partitions: readonly string[]): string {
  const parts = partitions.length === 0 ? '' : `, PARTITION_BY (${partitions.join(', ')})`;
  return `COPY (${sql}) TO ${quote(path)} (FORMAT parquet, COMPRESSION zstd${parts})`;
}
