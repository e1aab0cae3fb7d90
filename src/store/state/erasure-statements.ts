import { TABLES } from '../catalog.js';
import { BUILT_TABLES } from '../day-builder.js';
import { ROLL_UPS } from '../roll-ups.js';
import { digestSql } from '../row-digest.js';
import { quote, withSources } from '../sql-text.js';
import type { Parameters } from '../store.js';
import { columnNames, columnsOf } from '../tables.js';
import { type ErasedPerson, namesOfErased, patternsOf, pseudonymOf, wordPattern } from './erased-person.js';

interface Statement {
  readonly sql: string;
  readonly parameters?: Parameters;
}

/** Private characters of Unicode stand for words until all of them are found. */
const FIRST_MARK = 0xe000;

/** The columns of day tables that can name a user. */
const USER_COLUMNS = ['user_id', 'named_user_id'] as const;

/** The members of events that tell rows apart. Wherever one is stored, it changes in the same way. */
const ID_COLUMNS = ['session_id', 'event_id', 'request_id', 'agent_id', 'parent_agent_id'] as const;

/** The members of events that people name themselves. A value that others have too says nothing of the person, and stays. */
const OWN_VALUES = [
  ...['tool_name', 'mcp_server', 'skill_name', 'command_name', 'command', 'matcher'],
  ...['reason', 'team', 'department', 'cost_center'],
];

/** The same in day tables. */
const OWN_KEYS = ['tool_key', 'server_key', 'skill_name', 'command_name', 'command', 'matcher', 'name'];

/** The tables of the sources in which a person stands by name, with the columns of free text, which may name the person too. */
const FREE_TEXTS: Readonly<Record<string, readonly string[]>> = {
  rejects: ['source', 'detail'],
  mended_lines: ['source'],
  computers: ['name', 'hostname', 'remote_user', 'repos', 'source', 'steps'],
  transfers: ['file_name', 'content_type', 'dest_path'],
  readiness_reports: ['document'],
  keys: ['name'],
};

/** The tables that a build writes, with a column. */
const builtWith = (column: string) => BUILT_TABLES.filter((table) => columnNames(table).includes(column));

/**
 * The statements that give a person's place to the pseudonym in every row of an organization, as one transaction of DuckDB. Each name becomes
 * another one and no two become the same, so every number of every day stays as it is, and a day that is built again has the same numbers.
 * `now` is Unix milliseconds; `author` is who makes the change.
 */
export function erasureStatements(person: ErasedPerson, author: string, now: number): Statement[] {
  const { orgId, words } = person;
  const org = `org_id = ${quote(orgId)}`;
  const names = namesOfErased(person).map(quote).join(', ');
  const pseudonyms = person.names.map(({ pseudonym }) => quote(pseudonym)).join(', ');
  const pseudonym = quote(pseudonymOf(person));
  const { within, component, word, owner, home } = patternsOf(person);
  const isOwn = `user_id IN (${names})`;
  const renamed = (column: string) =>
    `CASE ${column} ${person.names.map((one) => `WHEN ${quote(one.name)} THEN ${quote(one.pseudonym)}`).join(' ')} ELSE ${column} END`;
  const has = (column: string, pattern: string) => `regexp_matches(${column}, ${quote(pattern)})`;
  const hasName = (column: string) => has(column, within);
  // Each word gets another text in its place, so that two texts never become the same. Marks first: a pseudonym may have a word in it by chance.
  const standIn = (word: string, place: number) =>
    person.names.find(({ name }) => name.toLowerCase() === word)?.pseudonym ??
    `${pseudonymOf(person)}-w${place + 1}`;
  const mark = (place: number) => String.fromCodePoint(FIRST_MARK + place);
  const without = (text: string) => {
    const marked = words.reduce(
      (inner, word, place) =>
        `regexp_replace(${inner}, ${quote(wordPattern(word))}, ${quote(mark(place))}, 'g')`,
      text,
    );
    return words.reduce(
      (inner, word, place) => `replace(${inner}, ${quote(mark(place))}, ${quote(standIn(word, place))})`,
      marked,
    );
  };
  // Twice, because two names that stand side by side share what is between them.
  const twice = (text: string, pattern: string) => {
    const once = (inner: string) =>
      `regexp_replace(${inner}, ${quote(pattern)}, '\\1' || ${pseudonym} || '\\3', 'g')`;
    return once(once(text));
  };
  const isNamed = (column: string) => `(${has(column, component)} OR ${has(column, word)})`;
  const withoutParts = (column: string) => twice(twice(column, component), word);
  const statements: string[] = [];
  const run = (sql: string) => statements.push(sql);

  // The days whose rows change.
  run('CREATE OR REPLACE TEMP TABLE erased_days (day DATE)');
  for (const column of USER_COLUMNS)
    for (const table of builtWith(column))
      run(
        `INSERT INTO erased_days SELECT DISTINCT day FROM ${table} WHERE ${org} AND ${column} IN (${names})`,
      );

  // Ids with a name in them.
  run('CREATE OR REPLACE TEMP TABLE named_ids (member VARCHAR, old_id VARCHAR)');
  const ids: [member: string, table: string, isTheirs: string][] = [
    ...ID_COLUMNS.map((member): [string, string, string] => [member, 'events', isOwn]),
    ['session_id', 'user_sessions', isOwn],
    ['session_id', 'session_parts', isOwn],
    ['session_id', 'decided_users', `(${isOwn} OR named_user_id IN (${names}))`],
    ...['shadowed_events', 'auxiliary_usage'].map((table): [string, string, string] => [
      'event_id',
      table,
      `day IN (SELECT day FROM removed_days WHERE ${org}) AND ${isNamed('event_id')}`,
    ]),
  ];
  for (const [member, table, isTheirs] of ids)
    run(
      `INSERT INTO named_ids SELECT DISTINCT '${member}', ${member} FROM ${table} WHERE ${org} AND ${isTheirs} AND ${hasName(member)}`,
    );
  run(
    `CREATE OR REPLACE TEMP TABLE erased_ids AS
    SELECT member, old_id, ${pseudonym} || '-' || row_number() OVER (ORDER BY member, old_id) AS new_id
    FROM (SELECT DISTINCT member, old_id FROM named_ids) AS named_id`,
  );
  for (const member of ID_COLUMNS)
    for (const table of ['events', ...builtWith(member), ...(member === 'session_id' ? ['transfers'] : [])])
      run(
        `UPDATE ${table} SET ${member} = (SELECT min(new_id) FROM erased_ids WHERE member = '${member}' AND old_id = ${member})
        WHERE ${org} AND ${member} IN (SELECT old_id FROM erased_ids WHERE member = '${member}')`,
      );

  // Repositories that are the person's own, by their keys: others may work in them too, but nobody else has one that is only named alike.
  run(
    `CREATE OR REPLACE TEMP TABLE erased_repos AS
    SELECT repo FROM (
      SELECT DISTINCT user_id, repo_key(repo) AS repo FROM (SELECT DISTINCT user_id, repo FROM events WHERE ${org} AND repo IS NOT NULL) AS spelling
      UNION
      SELECT DISTINCT user_id, repo FROM session_parts WHERE ${org}
    ) AS used
    GROUP BY repo
    HAVING ${has('repo', owner)} OR (${hasName('repo')} AND bool_and(${isOwn} OR user_id = 'unknown'))`,
  );
  run(
    `UPDATE events SET repo = NULL
    WHERE ${org} AND repo IN (SELECT repo FROM (SELECT DISTINCT repo FROM events WHERE ${org} AND repo IS NOT NULL) AS spelling WHERE repo_key(repo) IN (SELECT repo FROM erased_repos))`,
  );
  run(
    `CREATE OR REPLACE TEMP TABLE erased_repo_days AS SELECT DISTINCT day FROM session_parts WHERE ${org} AND repo IN (SELECT repo FROM erased_repos)`,
  );
  run('INSERT INTO erased_days SELECT day FROM erased_repo_days');
  for (const table of builtWith('repo')) statements.push(...withoutRepos(table, org));

  // Values of the person's own.
  const replaceOwn = (table: string, columns: readonly string[]) => {
    for (const column of columns)
      run(
        `UPDATE ${table} SET ${column} = ${without(column)}
        WHERE ${org} AND ${column} IN (SELECT ${column} FROM ${table} WHERE ${org} AND ${hasName(column)} GROUP BY ${column} HAVING bool_and(${isOwn}))`,
      );
  };
  replaceOwn('events', OWN_VALUES);
  for (const table of BUILT_TABLES)
    if (columnNames(table).includes('user_id'))
      replaceOwn(
        table,
        columnNames(table).filter((name) => OWN_KEYS.includes(name)),
      );

  // Where the person worked.
  const orNull = (column: string) => `${column} = CASE WHEN ${hasName(column)} THEN NULL ELSE ${column} END`;
  run(
    `UPDATE events SET
      user_email = NULL, ${['cwd', 'git_branch', 'repo_owner'].map(orNull).join(', ')},
      path = ${without('path')}, url = ${without('url')}
    WHERE ${org} AND ${isOwn}`,
  );
  // The same in what others did.
  for (const column of ['cwd', 'git_branch'])
    run(`UPDATE events SET ${column} = NULL WHERE ${org} AND ${isNamed(column)}`);
  for (const column of ['path', 'url'])
    run(`UPDATE events SET ${column} = ${withoutParts(column)} WHERE ${org} AND ${isNamed(column)}`);
  run(`UPDATE events SET repo_owner = NULL WHERE ${org} AND ${isNamed('repo_owner')}`);
  run(`INSERT INTO erased_days SELECT DISTINCT day FROM user_hooks WHERE ${org} AND ${has('command', home)}`);
  for (const table of ['events', 'user_hooks'])
    run(`UPDATE ${table} SET command = ${twice('command', home)} WHERE ${org} AND ${has('command', home)}`);

  // The person.
  run(`UPDATE events SET user_id = ${renamed('user_id')} WHERE ${org} AND ${isOwn}`);
  for (const column of USER_COLUMNS)
    for (const table of builtWith(column))
      run(`UPDATE ${table} SET ${column} = ${renamed(column)} WHERE ${org} AND ${column} IN (${names})`);
  for (const [table, column] of [
    ['people', 'user_id'],
    ['aliases', 'user_id'],
    ['aliases', 'alias'],
    ['memberships', 'user_id'],
    ['people_revisions', 'author'],
    ['keys', 'user_id'],
    ['keys', 'created_by'],
    ['access_log', 'user_id'],
    ['access_log', 'about'],
    ['computers', 'owner_id'],
    ['control_revisions', 'user_id'],
    ['privacy_revisions', 'author'],
  ] as const)
    run(`UPDATE ${table} SET ${column} = ${renamed(column)} WHERE ${org} AND ${column} IN (${names})`);
  run(`UPDATE people SET name = '', email = '' WHERE ${org} AND user_id IN (${pseudonyms})`);
  run(`UPDATE aliases SET is_email = false WHERE ${org} AND user_id IN (${pseudonyms})`);
  run(`UPDATE memberships SET is_lead = false WHERE ${org} AND user_id IN (${pseudonyms})`);
  run(`DELETE FROM user_emails WHERE ${org} AND (${isOwn} OR user_id IN (${pseudonyms}))`);
  run(
    `UPDATE keys SET name = NULL, user_email = NULL, revoked_at = coalesce(revoked_at, make_timestamp_ms(${now})) WHERE ${org} AND user_id IN (${pseudonyms})`,
  );
  run(`UPDATE keys SET user_email = NULL WHERE ${org} AND user_email IN (${names})`);
  run(
    `UPDATE control_revisions SET user_email = '', user_name = '' WHERE ${org} AND (user_id IN (${pseudonyms}) OR user_email IN (${names}))`,
  );
  // Lists of people in JSON.
  for (const [table, column] of [
    ['control_revisions', 'settings'],
    ['privacy_revisions', 'auditors'],
  ] as const) {
    const inQuotes = person.names
      .map(({ name }) => name)
      .reduce(
        (text, name) => `replace(${text}, ${quote(JSON.stringify(name))}, '"' || ${pseudonym} || '"')`,
        String(column),
      );
    run(`UPDATE ${table} SET ${column} = ${inQuotes} WHERE ${org}`);
  }
  run(
    `DELETE FROM scim_members WHERE ${org} AND member_id IN (SELECT scim_id FROM scim_users WHERE ${org} AND ${isOwn})`,
  );
  run(`DELETE FROM scim_users WHERE ${org} AND ${isOwn}`);
  const holders = namesOfErased(person).map((name) => quote(`user ${orgId} ${name}`));
  run(`DELETE FROM ended_tickets WHERE ticket_id IN (${holders.join(', ')})`);
  run(`UPDATE rejects SET line = NULL WHERE ${org} AND ${hasName('line')}`);
  for (const [table, columns] of Object.entries(FREE_TEXTS))
    for (const column of columns)
      run(`UPDATE ${table} SET ${column} = ${withoutParts(column)} WHERE ${org} AND ${isNamed(column)}`);
  run(
    `DELETE FROM readiness_reports WHERE ${org} AND (${has('repo', owner)} OR repo IN (SELECT repo FROM erased_repos))`,
  );
  // A file whose path isn't known any more is read again, and gives nothing new.
  run(`DELETE FROM ingested_files WHERE ${org} AND (${isOwn} OR ${isNamed('path')})`);
  run(`UPDATE runs SET error = ${withoutParts('error')} WHERE ${isNamed('error')}`);

  // What belongs to the rows of a day.
  const isErasedDay = 'day IN (SELECT day FROM erased_days)';
  for (const { name, text, tables } of ROLL_UPS) {
    const rows = Object.fromEntries(
      tables.map((table) => [table, `SELECT * FROM ${table} WHERE ${org} AND ${isErasedDay}`]),
    );
    run(`DELETE FROM ${name} WHERE ${org} AND ${isErasedDay}`);
    run(`INSERT INTO ${name} BY NAME SELECT * FROM (${withSources(text, rows)}) ORDER BY ALL`);
  }
  run('DELETE FROM due; DELETE FROM fresh_digests');
  run(`INSERT INTO due SELECT org_id, day FROM days WHERE ${org} AND ${isErasedDay}`);
  run(`INSERT INTO fresh_digests BY NAME ${BUILT_TABLES.map(digestSql).join(' UNION ALL ')}`);
  run(
    `INSERT INTO restatements BY NAME
    SELECT digests.org_id, digests.day, digests.table_name, digests.digest AS old_digest, fresh_digests.digest AS new_digest,
      make_timestamp_ms(${now}) AS built_at, 'erasure' AS reason
    FROM digests
    JOIN fresh_digests ON fresh_digests.org_id = digests.org_id AND fresh_digests.day = digests.day AND fresh_digests.table_name = digests.table_name
    WHERE digests.digest <> fresh_digests.digest`,
  );
  run(
    `DELETE FROM digests WHERE (org_id, day, table_name) IN (SELECT org_id, day, table_name FROM fresh_digests);
    INSERT INTO digests BY NAME FROM fresh_digests;
    DELETE FROM due; DELETE FROM fresh_digests`,
  );

  // Sessions in several repositories may count for another of them, so their days are built again.
  run(
    `INSERT INTO people_revisions
    SELECT ${quote(orgId)}, coalesce(max(revision), 0) + 1, ${renamed(quote(author))}, make_timestamp_ms(${now}), 1 FROM people_revisions WHERE ${org}`,
  );
  run(
    `INSERT INTO renamed_days
    SELECT ${quote(orgId)}, day, (SELECT max(revision) FROM people_revisions WHERE ${org}) FROM erased_repo_days
    WHERE day NOT IN (SELECT day FROM removed_days WHERE ${org})`,
  );
  for (const table of ['erased_days', 'named_ids', 'erased_ids', 'erased_repos', 'erased_repo_days'])
    run(`DROP TABLE temp.${table}`);
  return statements.map((sql) => ({ sql }));
}

/** Takes the erased repositories out of a day table. A row whose repository goes may become one with another. */
function withoutRepos(table: string, org: string): string[] {
  const grain = TABLES[table]?.grain ?? [];
  const parts = grain.filter((name) => name !== 'repo');
  const columns = columnsOf(table).map(({ name, type }) => {
    if (name === 'repo') return "'' AS repo";
    if (grain.includes(name)) return name;
    const isText = type === 'VARCHAR' || name.startsWith('is_');
    return `CAST(${isText ? 'max' : 'sum'}(${name}) AS ${type}) AS ${name}`;
  });
  const isGone = `(repo = '' OR repo IN (SELECT repo FROM erased_repos))`;
  const isMerged = `${org} AND ${isGone} AND (${parts.join(', ')}) IN (
    SELECT ${parts.join(', ')} FROM ${table} WHERE ${org} AND repo IN (SELECT repo FROM erased_repos))`;
  return [
    `CREATE OR REPLACE TEMP TABLE merged_rows AS SELECT ${columns.join(', ')} FROM ${table} WHERE ${isMerged} GROUP BY ${parts.join(', ')}`,
    `DELETE FROM ${table} WHERE ${isMerged}`,
    `INSERT INTO ${table} BY NAME FROM merged_rows`,
    'DROP TABLE temp.merged_rows',
  ];
}
