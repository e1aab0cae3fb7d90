import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { type AtEnd, temporaryFolder } from './world.js';

/** The folder of a version that a test changes: a copy of what the program has in its package. */
export function otherVersion(atEnd: AtEnd = onTestFinished): string {
  const root = temporaryFolder(atEnd);
  for (const part of ['dist', 'sql', 'data', 'package.json'])
    cpSync(join(PACKAGE_ROOT, part), join(root, part), { recursive: true });
  symlinkSync(join(PACKAGE_ROOT, 'node_modules'), join(root, 'node_modules'));
  return root;
}

/** Changes a file, which must be another one then. */
export function edit(path: string, change: (text: string) => string): void {
  const text = readFileSync(path, 'utf8');
  const changed = change(text);
  expect(changed).not.toBe(text);
  writeFileSync(path, changed);
}

/** The program of a later version, whose people, keys and days have one more column each, and which has one more table. */
export function laterVersion(atEnd: AtEnd = onTestFinished): string {
  const root = otherVersion(atEnd);
  const raw = ['people', 'keys'];
  edit(join(root, 'package.json'), (text) => text.replace(/"version": "[^"]*"/, '"version": "99.0.0"'));
  writeFileSync(
    join(root, 'sql/change/9001-trial.sql'),
    [
      'CREATE TABLE trials (org_id VARCHAR NOT NULL)\n--clickhouse ENGINE = MergeTree ORDER BY org_id\n',
      ...raw.map((table) => `ALTER TABLE ${table} ADD COLUMN trial VARCHAR`),
    ].join(';\n'),
  );
  edit(join(root, 'sql/schema/users.sql'), (text) =>
    text.replace(/^ {2}autonomy_ratio/m, '  trials              BIGINT NOT NULL,\n$&'),
  );
  edit(join(root, 'sql/daily/users.sql'), (text) =>
    text.replace(
      /^ {2}CAST\(ratio\(/m,
      '  CAST(active.messages + active.tool_calls AS BIGINT) AS trials,\n$&',
    ),
  );
  edit(join(root, 'dist/store/catalog.js'), (text) => {
    const withColumn = (all: string, table: string, type: string, isNullable: boolean) =>
      all.replace(
        new RegExp(`^( {4}${table}: \\{\\n(?: {8}.*\\n)*? {8}columns: \\[\\n(?: {12}.*\\n)*)`, 'm'),
        `$1            { name: "${isNullable ? 'trial' : 'trials'}", type: "${type}", isNullable: ${isNullable} },\n`,
      );
    const changed = raw.reduce((all, table) => withColumn(all, table, 'VARCHAR', true), text);
    return withColumn(changed, 'users', 'BIGINT', false);
  });
  return join(root, 'dist', 'cli.js');
}
