import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { MEMBERS, type Members, TYPES } from '../src/ingest/event-members.js';
import { columnNames } from '../src/store/tables.js';
import {
  checkedMembers,
  checkedSql,
  memberTables,
  readerSql,
  rulesSql,
  sentencesSql,
} from './ingest/event-sql.js';
import { expectFile, expectPage } from './page.js';

test('docs/events.md and the SQL that reads events come from the declared members', async () => {
  await expectFile('sql/source/canonical/events.sql', readerSql());
  await expectFile('sql/source/checked/events.sql', checkedSql());
  await expectFile('sql/source/checked/members.json', checkedMembers());
  await expectFile('sql/ingest/rules.sql', rulesSql());
  await expectFile('sql/ingest/sentences.sql', sentencesSql());
  const { common, types } = memberTables();
  const tables = [common, types];
  const page = readFileSync(join(PACKAGE_ROOT, 'docs', 'events.md'), 'utf8');
  const text = page.replaceAll(
    /(?<=^## (?:Members of every event|Types)\n(?:(?!\|).*\n)*)(?:\|.*\n)+/gm,
    () => `${tables.shift()}\n`,
  );
  expect(tables).toEqual([]);
  await expectPage('events.md', text);
});

test('every declared member has its column, and every column its member', () => {
  const found = ['org_id', 'day', 'occurred_at', 'batch'];
  expect(columnNames('events').toSorted()).toEqual(
    [...found, ...Object.keys(MEMBERS).filter((name) => name !== 'timestamp' && name !== 'org_id')].sort(),
  );
});

test('a member means the same in all types that have it', () => {
  for (const own of Object.values<Members>(TYPES))
    for (const [name, member] of Object.entries(own)) expect(member, name).toBe(MEMBERS[name]);
});
