import { TABLES } from '../catalog.js';
import { BUILT_TABLES } from '../day-builder.js';
import { quote, withSources } from '../sql-text.js';
import type { Rewriting, RowChange, Store } from '../store.js';
import { columnNames, columnsOf } from '../tables.js';
import { type ErasedPerson, namesOfErased, patternsOf, pseudonymOf, wordPattern } from './erased-person.js';
import { peopleTurn } from './person.js';

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
  heartbeats: ['host', 'collector_id'],
  silence_acknowledgements: ['name', 'reason'],
  alert_revisions: ['settings'],
  deliveries: ['answer'],
  vendor_revisions: ['settings'],
  vendor_pulls: ['fault'],
  vendor_bills: ['item'],
};

/** The tables that a build writes, with a column. */
const builtWith = (column: string) => BUILT_TABLES.filter((table) => columnNames(table).includes(column));

/**
 * What gives a person's place to the pseudonym in every row of an organization. Each name becomes another one and no two become the same, so
 * every number of every day stays as it is, and a day that is built again has the same numbers. `now` is Unix milliseconds; `author` is who
 * makes the change.
 */
export async function erasureOf(
  store: Pick<Store, 'select'>,
  person: ErasedPerson,
  author: string,
  now: number,
): Promise<Rewriting> {
  const { orgId, words } = person;
  const org = `org_id = ${quote(orgId)}`;
  const names = namesOfErased(person).map(quote).join(', ');
  const pseudonyms = person.names.map(({ pseudonym }) => quote(pseudonym)).join(', ');
  const pseudonym = quote(pseudonymOf(person));
  const { within, component, word, owner, home } = patternsOf(person);
  const isOwn = `user_id IN (${names})`;
  const renamed = (column: string) => {
    const cases = person.names.map(
      (one) => `WHEN ${column} = ${quote(one.name)} THEN ${quote(one.pseudonym)}`,
    );
    return `CASE ${cases.join(' ')} ELSE ${column} END`;
  };
  const has = (column: string, pattern: string) => `regexp_matches(${column}, ${quote(pattern)})`;
  const hasName = (column: string) => has(column, within);
  // Each word gets another text in its place, so that two texts never become the same. Marks first: a pseudonym may have a word in it by chance.
  const standIn = (word: string, place: number) =>
    person.names.find(({ name }) => name.toLowerCase() === word)?.pseudonym ??
    `${pseudonymOf(person)}-w${place + 1}`;
  const mark = (place: number) => String.fromCodePoint(FIRST_MARK + place);
  const without = (text: string) => {
    const marked = words.reduce(
      (inner, word, place) => `replaced(${inner}, ${quote(wordPattern(word))}, ${quote(mark(place))})`,
      text,
    );
    return words.reduce(
      (inner, word, place) => `replace(${inner}, ${quote(mark(place))}, ${quote(standIn(word, place))})`,
      marked,
    );
  };
  // Twice, because two names that stand side by side share what is between them.
  const twice = (text: string, pattern: string) => {
    const once = (inner: string) => `replaced(${inner}, ${quote(pattern)}, '\\1' || ${pseudonym} || '\\3')`;
    return once(once(text));
  };
  const isNamed = (column: string) => `(${has(column, component)} OR ${has(column, word)})`;
  const withoutParts = (column: string) => twice(twice(column, component), word);
  const found: Record<string, string> = {};
  const changes: RowChange[] = [];
  const update = (table: string, set: Readonly<Record<string, string>>, where = 'true') =>
    changes.push({ table, set, where: `${org} AND ${where}` });
  const remove = (table: string, where: string) => changes.push({ table, where: `${org} AND ${where}` });

  // Ids with a name in them.
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
  found.named_ids = ids
    .map(
      ([member, table, isTheirs]) =>
        `SELECT '${member}' AS member, ${member} AS old_id FROM ${table} WHERE ${org} AND ${isTheirs} AND ${hasName(member)}`,
    )
    .join('\nUNION\n');
  found.erased_ids = `SELECT member, old_id, ${pseudonym} || '-' || CAST(row_number() OVER (ORDER BY member, old_id) AS VARCHAR) AS new_id
    FROM named_ids`;

  // Repositories that are the person's own, by their keys: others may work in them too, but nobody else has one that is only named alike.
  found.erased_repos = `SELECT repo FROM (
      SELECT DISTINCT user_id, repo_key(repo) AS repo FROM (SELECT DISTINCT user_id, repo FROM events WHERE ${org} AND repo IS NOT NULL) AS spelling
      UNION
      SELECT DISTINCT user_id, repo FROM session_parts WHERE ${org}
    ) AS used
    GROUP BY repo
    HAVING ${has('repo', owner)} OR (${hasName('repo')} AND ${every(`${isOwn} OR user_id = 'unknown'`)})`;
  found.erased_repo_days = `SELECT DISTINCT day FROM session_parts WHERE ${org} AND repo IN (SELECT repo FROM erased_repos)`;

  // The days whose rows change.
  found.erased_days = [
    ...USER_COLUMNS.flatMap((column) =>
      builtWith(column).map((table) => `SELECT day FROM ${table} WHERE ${org} AND ${column} IN (${names})`),
    ),
    ...ID_COLUMNS.flatMap((member) =>
      builtWith(member).map(
        (table) =>
          `SELECT day FROM ${table} WHERE ${org} AND ${member} IN (SELECT old_id FROM erased_ids WHERE member = '${member}')`,
      ),
    ),
    `SELECT day FROM user_hooks WHERE ${org} AND ${has('command', home)}`,
    'SELECT day FROM erased_repo_days',
  ].join('\nUNION\n');

  // First, because they look for rows as they are.
  for (const table of builtWith('repo')) changes.push(withoutRepos(table, org));
  update(
    'events',
    { repo: 'NULL' },
    `repo IN (SELECT repo FROM (SELECT DISTINCT repo FROM events WHERE ${org} AND repo IS NOT NULL) AS spelling WHERE repo_key(repo) IN (SELECT repo FROM erased_repos))`,
  );
  for (const member of ID_COLUMNS)
    for (const table of ['events', ...builtWith(member)]) {
      const pairs = `SELECT old_id AS old_value, new_id AS new_value FROM erased_ids WHERE member = '${member}'`;
      changes.push({ table, where: org, lookedUp: { column: member, pairs } });
    }

  // Values of the person's own.
  const replaceOwn = (table: string, columns: readonly string[]) => {
    for (const column of columns)
      update(
        table,
        { [column]: without(column) },
        `${column} IN (SELECT ${column} FROM ${table} WHERE ${org} AND ${hasName(column)} GROUP BY ${column} HAVING ${every(isOwn)})`,
      );
  };
  replaceOwn('events', OWN_VALUES);
  for (const table of builtWith('user_id'))
    replaceOwn(
      table,
      columnNames(table).filter((name) => OWN_KEYS.includes(name)),
    );

  // Where the person worked.
  const orNull = (column: string) => [column, `CASE WHEN ${hasName(column)} THEN NULL ELSE ${column} END`];
  update(
    'events',
    {
      user_email: 'NULL',
      ...Object.fromEntries(['cwd', 'git_branch', 'repo_owner'].map(orNull)),
      path: without('path'),
      url: without('url'),
    },
    isOwn,
  );
  // The same in what others did.
  for (const column of ['cwd', 'git_branch']) update('events', { [column]: 'NULL' }, isNamed(column));
  for (const column of ['path', 'url']) update('events', { [column]: withoutParts(column) }, isNamed(column));
  update('events', { repo_owner: 'NULL' }, isNamed('repo_owner'));
  update('events', { user_email: 'NULL' }, `user_email IN (${names})`);
  for (const table of ['events', 'user_hooks'])
    update(table, { command: twice('command', home) }, has('command', home));

  // The person.
  const rename = (table: string, column: string) =>
    update(table, { [column]: renamed(column) }, `${column} IN (${names})`);
  rename('events', 'user_id');
  for (const column of USER_COLUMNS) for (const table of builtWith(column)) rename(table, column);
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
    ['silence_acknowledgements', 'author'],
    ['hidden_marks', 'author'],
    ['budget_revisions', 'author'],
    ['alert_revisions', 'author'],
    ['vendor_revisions', 'author'],
  ] as const)
    rename(table, column);
  const isErased = `user_id IN (${pseudonyms})`;
  update('people', { name: "''", email: "''" }, isErased);
  update('aliases', { is_email: 'false' }, isErased);
  update('memberships', { is_lead: 'false' }, isErased);
  remove('user_emails', `(${isOwn} OR ${isErased} OR user_email IN (${names}))`);
  update(
    'keys',
    { name: 'NULL', user_email: 'NULL', revoked_at: `coalesce(revoked_at, instant(${now}))` },
    isErased,
  );
  update('keys', { user_email: 'NULL' }, `user_email IN (${names})`);
  update(
    'control_revisions',
    { user_email: "''", user_name: "''" },
    `(${isErased} OR user_email IN (${names}))`,
  );
  // Lists of people in JSON.
  for (const [table, column, before] of [
    ['control_revisions', 'settings', ''],
    ['privacy_revisions', 'auditors', ''],
    // A team, an agent or a model can be called like a person.
    ['budget_revisions', 'budgets', '"person","name":'],
  ] as const) {
    const inQuotes = person.names
      .map(({ name }) => name)
      .reduce(
        (text, name) =>
          `replace(${text}, ${quote(before + JSON.stringify(name))}, ${quote(`${before}"`)} || ${pseudonym} || '"')`,
        String(column),
      );
    update(table, { [column]: inQuotes });
  }
  remove('scim_members', `member_id IN (SELECT scim_id FROM scim_users WHERE ${org} AND ${isOwn})`);
  remove('scim_users', isOwn);
  remove('deleted_scim_users', `name IN (${names})`);
  remove('vendor_roster', `(${isOwn} OR ${hasName('user_id')} OR ${hasName('name')})`);
  // Nobody waits for the person's machines any more.
  remove('heartbeats', isOwn);
  remove('silence_acknowledgements', isOwn);
  remove('hidden_marks', isOwn);
  remove('alerts', isOwn);
  const holders = namesOfErased(person).map((name) => quote(`user ${orgId} ${name}`));
  changes.push({ table: 'ended_tickets', where: `ticket_id IN (${holders.join(', ')})` });
  update('rejects', { line: 'NULL' }, hasName('line'));
  for (const [table, columns] of Object.entries(FREE_TEXTS))
    for (const column of columns) update(table, { [column]: withoutParts(column) }, isNamed(column));
  // State knows of data by these values alone.
  const told = await toldState(store, orgId, found);
  if (told.sessions.length > 0) {
    const cases = told.sessions.map(([old, one]) => `WHEN session_id = ${quote(old)} THEN ${quote(one)}`);
    update(
      'transfers',
      { session_id: `CASE ${cases.join(' ')} ELSE session_id END` },
      `session_id IN (${told.sessions.map(([old]) => quote(old)).join(', ')})`,
    );
  }
  const repos = told.repos.length === 0 ? '' : ` OR repo IN (${told.repos.map(quote).join(', ')})`;
  remove('readiness_reports', `(${has('repo', owner)}${repos})`);
  // A file whose path isn't known any more is read again, and gives nothing new.
  remove('ingested_files', `(${isOwn} OR ${isNamed('path')})`);
  changes.push({ table: 'runs', set: { error: withoutParts('error') }, where: isNamed('error') });

  // Sessions in several repositories may count for another of them, so their days are built again.
  const next = `SELECT coalesce(max(revision), 0) + 1 FROM people_revisions WHERE ${org}`;
  const renamedDays = told.days.map((day) => `SELECT CAST(${quote(day)} AS DATE) AS day`);
  const added = {
    ...(renamedDays.length === 0
      ? {}
      : {
          renamed_days: `SELECT ${quote(orgId)}, day, (${next}) FROM (${renamedDays.join(' UNION ALL ')}) AS renamed`,
        }),
    people_revisions: `SELECT ${quote(orgId)}, (${next}), ${renamed(quote(author))}, instant(${now}), 1`,
  };
  const turn = peopleTurn(orgId);
  return { orgId, turn, found, changes, added, days: 'erased_days', reason: 'erasure', at: now };
}

/** What state has of the rows of data that change: the ids of sessions and their new ones, repositories, and days. */
async function toldState(
  store: Pick<Store, 'select'>,
  orgId: string,
  { named_ids = '', erased_ids = '', erased_repos = '', erased_repo_days = '' }: Record<string, string>,
) {
  const org = { org_id: orgId };
  const texts = async (sql: string, column: string) =>
    (await store.select(sql, org)).map((row) => String(row[column]));
  const sessions = new Set(
    await texts(
      'SELECT DISTINCT session_id FROM transfers WHERE org_id = $org_id AND session_id IS NOT NULL',
      'session_id',
    ),
  );
  const ids = await store.select(
    withSources("SELECT old_id, new_id FROM erased_ids WHERE member = 'session_id' ORDER BY old_id", {
      named_ids,
      erased_ids,
    }),
  );
  const reported = new Set(
    await texts('SELECT DISTINCT repo FROM readiness_reports WHERE org_id = $org_id', 'repo'),
  );
  const repos = await texts(
    withSources('SELECT repo FROM erased_repos ORDER BY repo', { erased_repos }),
    'repo',
  );
  return {
    sessions: ids
      .map(({ old_id, new_id }): [string, string] => [String(old_id), String(new_id)])
      .filter(([old]) => sessions.has(old)),
    repos: repos.filter((repo) => reported.has(repo)),
    days: await texts(
      withSources(
        `SELECT day FROM erased_repo_days
        WHERE day NOT IN (SELECT day FROM removed_days WHERE org_id = $org_id) ORDER BY day`,
        { erased_repos, erased_repo_days },
      ),
      'day',
    ),
  };
}

/** The aggregate that says that something holds of every row. */
function every(condition: string): string {
  return `count(CASE WHEN ${condition} THEN NULL ELSE 1 END) = 0`;
}

/** Takes the erased repositories out of a day table. A row whose repository goes may become one with another. */
function withoutRepos(table: string, org: string): RowChange {
  const grain = TABLES[table]?.grain ?? [];
  const by = grain.filter((name) => name !== 'repo');
  const columns = columnsOf(table).map(({ name, type }) => {
    if (name === 'repo') return "'' AS repo";
    if (grain.includes(name)) return name;
    const isText = type === 'VARCHAR' || name.startsWith('is_');
    return `CAST(${isText ? 'max' : 'sum'}(${name}) AS ${type}) AS ${name}`;
  });
  return {
    table,
    where: `${org} AND (repo = '' OR repo IN (SELECT repo FROM erased_repos)) AND (${by.join(', ')}) IN (
      SELECT ${by.join(', ')} FROM ${table} WHERE ${org} AND repo IN (SELECT repo FROM erased_repos))`,
    merged: { by, columns },
  };
}
