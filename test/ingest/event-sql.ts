import {
  AHEAD_MS,
  COMMON,
  FIRST_MS,
  LEAST_MS,
  MEMBERS,
  type Member,
  type Members,
  MOST,
  MOST_MS,
  SENT_MEMBERS,
  SENTENCES,
  TYPES,
  wordsOf,
} from '../../src/ingest/event-members.js';
import { quote } from '../../src/store/sql-text.js';

/** The SQL files and tables that are generated from the declared members of events. */

const GENERATED = '-- "npm run docs" writes this file from src/ingest/event-members.ts.';

const COMMON_MEMBERS = Object.entries<Member>(COMMON);
const OWN_MEMBERS: [type: string, members: [string, Member][]][] = Object.entries<Members>(TYPES)
  .map(([type, members]): [string, [string, Member][]] => [type, Object.entries(members)])
  .filter(([, members]) => members.length > 0);

/** The members that have a column of their name. */
const columnsOf = (members: Members) =>
  Object.entries(members).filter(([name]) => name !== 'org_id' && name !== 'timestamp');
const COLUMNS = columnsOf(MEMBERS);
const SENT_COLUMNS = columnsOf(SENT_MEMBERS);

/** The JSON types that a member can have, as DuckDB calls them. A DOUBLE such as 5.0 is accepted too where it is an integer. */
const JSON_TYPES: Record<Member['kind'], string> = {
  text: "('VARCHAR', 'NULL')",
  integer: "('UBIGINT', 'BIGINT', 'NULL')",
  decimal: "('UBIGINT', 'BIGINT', 'DOUBLE', 'NULL')",
  boolean: "('BOOLEAN', 'NULL')",
  instant: "('VARCHAR', 'UBIGINT', 'BIGINT', 'NULL')",
};

/** The type that a member is read as. Integers are DOUBLE, as in JavaScript: JSON doesn't distinguish 5 from 5.0. */
const READ_AS: Record<Member['kind'], string> = {
  text: 'VARCHAR',
  integer: 'DOUBLE',
  decimal: 'DOUBLE',
  boolean: 'BOOLEAN',
  instant: 'VARCHAR',
};

const indented = (lines: readonly string[], by: number) =>
  lines.map((line) => `${' '.repeat(by)}${line}`).join('\n');

/** The WHENs for members that are missing or have the wrong JSON type. */
function formFaults(members: readonly [string, Member][], types: string): string[] {
  const of = (index: number) => `${types}[${index + 1}]`;
  return [
    ...members.flatMap(([name, { isRequired }], index) =>
      isRequired === true
        ? [`WHEN coalesce(${of(index)}, 'NULL') = 'NULL' THEN 'missing_member ${name}'`]
        : [],
    ),
    ...members.map(([name, { kind }], index) => {
      const number = kind === 'integer' ? `event.${name}` : `try_cast(event.${name} AS DOUBLE)`;
      const isOther = `${of(index)} NOT IN ${JSON_TYPES[kind]}`;
      const isNumber = kind === 'integer' || kind === 'instant';
      const more = isNumber ? ` AND (${of(index)} <> 'DOUBLE' OR NOT is_integer(${number}))` : '';
      return `WHEN ${isOther}${more} THEN 'wrong_type ${name}'`;
    }),
  ];
}

/** What is stored of a member, given its column. */
function storedValue(column: string, member: Member): string {
  if (member.kind === 'integer') return `clamped(${column})`;
  if (member.kind !== 'text') return column;
  if (member.isCommand === true) return `regexp_replace(${column}, '^\\s*/', '')`;
  return member.default === undefined ? column : `coalesce(${column}, ${quote(member.default)})`;
}

/** The types that have a member of their own. */
function typesWith(name: string): string[] {
  return OWN_MEMBERS.filter(([, members]) => members.some(([own]) => own === name)).map(([type]) =>
    quote(type),
  );
}

/** sql/source/canonical/events.sql */
export function readerSql(): string {
  const structure = Object.entries(SENT_MEMBERS).map(([name, { kind }]) => `"${name}": "${READ_AS[kind]}"`);
  const timestamp = COMMON_MEMBERS.findIndex(([name]) => name === 'timestamp') + 1;
  return `-- One row is one line, read as a canonical event. A line that breaks a rule of form has a fault: a reason of the closed list and the
-- member, such as 'wrong_type user_id'.
-- Reads lines (source, line_no, line: JSON, or null if the line is not JSON).
${GENERATED}
WITH
read_line AS (
  SELECT
    source,
    line_no,
    strlen(line) AS bytes,
    line,
    from_json(line, '{
${indented(
  structure.map((one, index) => (index < structure.length - 1 ? `${one},` : one)),
  6,
)}
    }') AS event,
    -- The JSON types of the members, null if absent: from_json would read 12 as '12'.
    json_type(line, [${COMMON_MEMBERS.map(([name]) => `'$.${name}'`).join(', ')}, '$']) AS types
  FROM lines
),
typed_line AS (
  SELECT
    *,
    CASE event.type
${indented(
  OWN_MEMBERS.map(
    ([type, members]) =>
      `WHEN '${type}' THEN json_type(line, [${members.map(([name]) => `'$.${name}'`).join(', ')}])`,
  ),
  6,
)}
    END AS own_types,
    CASE
      WHEN types[${timestamp}] = 'VARCHAR' THEN rfc3339_ms(event.timestamp)
      WHEN is_integer(try_cast(event.timestamp AS DOUBLE)) THEN clamped(try_cast(event.timestamp AS DOUBLE))
    END AS occurred_ms
  FROM read_line
)
SELECT
  source,
  line_no,
  CASE
    WHEN line IS NULL THEN 'not_json'
    WHEN bytes > 1048576 THEN 'line_too_long'
    WHEN types[${COMMON_MEMBERS.length + 1}] <> 'OBJECT' THEN 'not_an_object'
${indented(formFaults(COMMON_MEMBERS, 'types'), 4)}
    WHEN event.type NOT IN (${Object.keys(TYPES).map(quote).join(', ')}) THEN 'unknown_type type'
    WHEN own_types IS NULL THEN NULL
${OWN_MEMBERS.map(([type, members]) => `    WHEN event.type = '${type}' THEN\n      CASE\n${indented(formFaults(members, 'own_types'), 8)}\n      END`).join('\n')}
  END AS form_fault,
  event.org_id AS named_org_id,
  occurred_ms,
${SENT_COLUMNS.map(([name, member]) => {
  const types = typesWith(name);
  const value = storedValue(`event.${name}`, member);
  // A member that the type does not list is ignored.
  return `  ${types.length === 0 ? value : `CASE WHEN event.type IN (${types.join(', ')}) THEN ${value} END`} AS ${name}`;
}).join(',\n')}
FROM typed_line
`;
}

/** sql/source/checked/events.sql */
export function checkedSql(): string {
  return `-- One row is one line that src/ingest/body-check.ts checked when it was received: an event or a fault.
-- Reads lines.
${GENERATED}
SELECT
  source,
  "$line" AS line_no,
  "$fault" AS form_fault,
  "$at" AS occurred_ms,
${SENT_COLUMNS.map(([name, member]) => {
  const value = member.kind === 'text' ? storedValue(name, member) : name;
  return `  ${value === name ? '' : `${value} AS `}${name}`;
}).join(',\n')}
FROM lines
`;
}

/** sql/source/checked/members.json */
export function checkedMembers(): string {
  const own = { $line: 'BIGINT', $at: 'BIGINT', $fault: 'VARCHAR', $text: 'VARCHAR' };
  const members = SENT_COLUMNS.map(([name, { kind }]) => [
    name,
    kind === 'integer' ? 'BIGINT' : READ_AS[kind],
  ]);
  const all = { ...own, ...Object.fromEntries(members) };
  return `${JSON.stringify(all, null, 2)}\n`;
}

/** Whether an event comes from no agent's logs or telemetry. */
const OF_EVENTS = "coalesce(channel, 'event') = 'event'";

/** The condition for a value that a member can't have; undefined if it can have any. */
function outOfRange(name: string, member: Member): string | undefined {
  if (member.kind === 'integer' || member.kind === 'decimal')
    return `${name} NOT BETWEEN ${member.min} AND ${member.max}`;
  if (member.kind !== 'text') return undefined;
  if (member.values !== undefined) return `${name} NOT IN (${member.values.map(quote).join(', ')})`;
  if (member.pattern !== undefined) return `NOT regexp_full_match(${name}, ${quote(member.pattern[0])})`;
  if (member.max === undefined) return undefined;
  const isLonger = `is_longer(${name}, ${member.max})`;
  if (member.min !== 1) return isLonger;
  const isEmpty = member.isEmptyInLogs === true ? `${name} = '' AND ${OF_EVENTS}` : `${name} = ''`;
  return `${isEmpty} OR ${isLonger}`;
}

/** The value of a member in `events`. */
function settledValue(name: string, member: Member): string {
  if (name === 'session_id') return "coalesce(session_id, '')";
  if (member.kind === 'decimal') return `try_cast(${name} AS DECIMAL(18, 9))`;
  if (member.kind !== 'text') return name;
  // A password in an address would end up in the lake and its copies.
  const value = member.isAddress === true ? `without_credentials(${name})` : name;
  if (member.isGroup === true) return `nullif(${value}, '(none)')`;
  return member.default === undefined ? value : `coalesce(${value}, ${quote(member.default)})`;
}

/** sql/ingest/rules.sql */
export function rulesSql(): string {
  const missing = OWN_MEMBERS.flatMap(([type, members]) =>
    members.flatMap(([name, { isRequired }]) =>
      isRequired === true ? [`WHEN type = '${type}' AND ${name} IS NULL THEN 'missing_member ${name}'`] : [],
    ),
  );
  const ranges = COLUMNS.filter(([name]) => name !== 'type').flatMap(([name, member]) => {
    const condition = outOfRange(name, member);
    return condition === undefined ? [] : [`WHEN ${condition} THEN 'value_out_of_range ${name}'`];
  });
  return `-- One row is one line: an event in the columns of \`events\`, or its fault.
-- Reads typed_lines, which the source's own SQL returns, and batch_files: each file's organization, and the instant at which it was
-- received. Rules use only that instant, so they give the same result whenever they are applied.
${GENERATED}
SELECT
  source,
  line_no,
  CASE
    WHEN form_fault IS NOT NULL THEN form_fault
    WHEN event_id IS NULL THEN 'missing_member id'
    WHEN session_id IS NULL AND ${OF_EVENTS} THEN 'missing_member session_id'
${indented(missing, 4)}
    WHEN occurred_ms IS NULL OR occurred_ms NOT BETWEEN ${LEAST_MS} AND ${MOST_MS} THEN 'bad_timestamp timestamp'
    WHEN occurred_ms > epoch_ms(received_at) + ${AHEAD_MS} THEN 'timestamp_in_future timestamp'
    WHEN occurred_ms < ${FIRST_MS} THEN 'value_out_of_range timestamp'
    WHEN named_org_id <> org_id THEN 'org_mismatch org_id'
${indented(ranges, 4)}
  END AS fault,
  org_id,
  -- Up to 2149-06-06, the last day that every store supports. Later events are rejected anyway, on their day of arrival.
  CAST(CASE WHEN occurred_ms BETWEEN 0 AND 5662310399999 THEN make_timestamp_ms(occurred_ms) END AS TIMESTAMP_MS) AS occurred_at,
  CAST(occurred_at AS DATE) AS day,
${COLUMNS.map(([name, member]) => {
  if (name === 'user_id')
    return "  -- If lines don't name their user, the file does.\n  coalesce(user_id, file_user_id) AS user_id";
  const value = settledValue(name, member);
  return value === name ? `  ${name}` : `  ${value} AS ${name}`;
}).join(',\n')}
FROM typed_lines
JOIN batch_files USING (source)
`;
}

/** sql/ingest/sentences.sql */
export function sentencesSql(): string {
  const rows = [...SENTENCES].map(([fault, sentence]) => `  (${quote(fault)}, ${quote(sentence)})`);
  return `-- One row is one fault of an event, and the sentence that says what would be accepted.
-- Grain: (fault).
${GENERATED}
SELECT *
FROM (VALUES
${rows.join(',\n')}
) AS sentence (fault, detail)
`;
}

/** What docs/events.md says of a member: what it means, and its limits where they aren't those of most members. */
function saidOf(member: Member): string {
  const isUsual =
    member.kind === 'text'
      ? member.max === 2048 && member.values === undefined
      : member.kind !== 'integer' || member.max === MOST;
  const values: readonly string[] = (member.kind === 'text' && member.values) || [];
  const limits = isUsual
    ? undefined
    : wordsOf(member).value?.replaceAll(/\b[\w-]+\b/g, (word) =>
        values.includes(word) ? `\`${word}\`` : word,
      );
  const normally =
    member.kind === 'text' && member.default !== undefined ? `\`${member.default}\` by default` : undefined;
  return [member.about, limits, normally].filter((part) => part !== undefined).join('; ');
}

/** The tables of docs/events.md. */
export function memberTables(): { common: string; types: string } {
  const common = COMMON_MEMBERS.map(
    ([name, member]) => `| \`${name}\` | ${member.isRequired === true ? 'yes' : ''} | ${saidOf(member)} |`,
  );
  const types = Object.entries<Members>(TYPES).map(([type, members]) => {
    const own = Object.entries(members).map(([name, member]) => {
      const said = saidOf(member);
      return `${member.isRequired === true ? `**${name}**` : name}${said === '' ? '' : ` (${said})`}`;
    });
    return `| \`${type}\` | ${own.join(', ')} |`;
  });
  return {
    common: ['| Member | Required | |', '|---|---|---|', ...common].join('\n'),
    types: ['| Type | Members |', '|---|---|', ...types].join('\n'),
  };
}
