import { parse } from 'csv-parse/sync';
import type { Day } from '../day.js';
import { UsageError } from '../exit.js';
import { grouped } from '../input/grouped.js';
import { KINDS, type Kind } from '../input/kinds.js';
import { FIRST_DAY, LAST_DAY, type Membership, type Person } from '../store/state/person.js';
import { moved } from './people-change.js';
import { LINES_AT_MOST, PeopleLine } from './people-line.js';

/** The columns of a file of people, by the names in its first line. Several values stand in one field with semicolons between. */
export const PEOPLE_COLUMNS = {
  user_id: 'the id under which the person is shown; needed',
  name: "the person's name",
  email: 'addresses, the first one is shown',
  alias:
    'other names of the person: ids of collectors and telemetry, `sub` of the identity provider, logins of vendors',
  team: 'the team',
  cost_center: 'the cost centre',
  from: 'the first day in this team and cost centre; needed if a person has several lines',
  to: 'the last day in them',
  is_lead: 'true for those who get the digest of the team',
} as const;
type Column = keyof typeof PEOPLE_COLUMNS;
const COLUMNS = Object.keys(PEOPLE_COLUMNS) as Column[];

/** Other names that exports of directories and of personnel systems have for these columns. */
const OTHER_NAMES: Readonly<Record<string, Column>> = {
  user: 'user_id',
  userid: 'user_id',
  username: 'user_id',
  id: 'user_id',
  displayname: 'name',
  fullname: 'name',
  emails: 'email',
  mail: 'email',
  emailaddress: 'email',
  aliases: 'alias',
  department: 'team',
  costcenter: 'cost_center',
  costcentre: 'cost_center',
  lead: 'is_lead',
  islead: 'is_lead',
};

/** The longest field: characters. */
const FIELD_CHARACTERS = 10_000;

function columnOf(header: string): Column | undefined {
  const plain = header.trim().toLowerCase();
  return COLUMNS.find((column) => column === plain) ?? OTHER_NAMES[plain.replaceAll(/[\s_-]/g, '')];
}

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  '1': true,
  false: false,
  no: false,
  '0': false,
  '': false,
};

/** The text of a file of people. Throws a UsageError for one that isn't UTF-8, since its names would be stored wrong. */
export function peopleText(bytes: Uint8Array, path: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // Of UTF-16 without a mark, every other byte is 0.
    if (!text.includes('\0')) return text;
  } catch {}
  throw new UsageError(
    `${path} is not text in UTF-8: save it again, in Excel as "CSV UTF-8", elsewhere with the encoding UTF-8.`,
  );
}

/** A file of people: its lines, and the columns that people don't have, of which nothing is read. */
export interface PeopleFile {
  readonly lines: PeopleLine[];
  readonly ignored: string[];
}

/** The lines of a file of people. */
export function peopleLines(text: string, path: string): PeopleLine[] {
  return peopleFile(text, path).lines;
}

/** Reads a file of people: CSV with commas, semicolons or tabs, whose first line names the columns. Throws a UsageError that names the line. */
export function peopleFile(text: string, path: string): PeopleFile {
  let records: { record: string[]; info: { lines: number } }[];
  try {
    records = parse(text, {
      bom: true,
      delimiter: delimiterOf(text),
      info: true,
      max_record_size: FIELD_CHARACTERS * COLUMNS.length,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as typeof records;
  } catch (error) {
    const [, line] = /line (\d+)/.exec(String(error)) ?? [];
    throw new UsageError(
      `${path} is not CSV as RFC 4180 describes it${line === undefined ? '' : `, from line ${line} on`}: export it again.`,
    );
  }
  const [head, ...rows] = records;
  if (head === undefined)
    throw new UsageError(
      `${path} is empty: its first line must name the columns, such as user_id,name,email,team.`,
    );
  const columns = head.record.map(columnOf);
  const twice = columns.find((column, place) => column !== undefined && columns.indexOf(column) !== place);
  if (twice !== undefined) throw new UsageError(`${path} has two columns for ${twice}: remove one.`);
  if (!columns.includes('user_id'))
    throw new UsageError(
      `The first line of ${path} must name the column user_id: people have the columns ${COLUMNS.join(', ')}.`,
    );
  if (rows.length > LINES_AT_MOST)
    throw new UsageError(`${path} can have ${LINES_AT_MOST} lines, not ${rows.length}: import it in parts.`);
  return {
    lines: rows.map(({ record, info }) => lineOf(columns, record, info.lines, path)),
    ignored: head.record.filter((header, place) => header !== '' && columns[place] === undefined),
  };
}

function lineOf(
  columns: readonly (Column | undefined)[],
  record: readonly string[],
  line: number,
  path: string,
): PeopleLine {
  const fields: Record<string, unknown> = { line };
  for (const [place, column] of columns.entries()) {
    const field = record[place] ?? '';
    if (column === 'email' || column === 'alias')
      fields[column] = field
        .split(';')
        .map((part) => part.trim())
        .filter((part) => part !== '');
    else if (column === 'is_lead') fields[column] = BOOLEANS[field.toLowerCase()] ?? field;
    else if (column === 'from' || column === 'to') fields[column] = field === '' ? undefined : field;
    else if (column !== undefined) fields[column] = field;
  }
  const { data, error } = PeopleLine.safeParse(fields);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  throw new UsageError(`Line ${line} of ${path} is refused: ${String(issue?.path[0])} ${issue?.message}.`);
}

/** Spreadsheets of some countries write semicolons. The first line decides, which has only names. */
function delimiterOf(text: string): string {
  const [head = ''] = text.split(/\r?\n/, 1);
  return [';', '\t'].find((delimiter) => head.includes(delimiter)) ?? ',';
}

/**
 * People after a file of them: what a column has replaces what a person had, and other columns leave the rest as it is. A team or cost
 * centre without days begins today, unless the person had none. People who aren't in the file stay, unless `replaces`.
 */
export function withLines(
  before: readonly Person[],
  lines: readonly PeopleLine[],
  { today, replaces }: { readonly today: Day; readonly replaces: boolean },
): Person[] {
  const known = new Map(before.map((person) => [person.userId, person]));
  const byUser = grouped(lines, ({ user_id }) => user_id);
  const named = [...byUser].map(([userId, own]) => personOf(known.get(userId), userId, own, today));
  return replaces ? named : [...before.filter(({ userId }) => !byUser.has(userId)), ...named];
}

function personOf(
  before: Person | undefined,
  userId: string,
  lines: readonly PeopleLine[],
  today: Day,
): Person {
  const last = lines.at(-1);
  const all = (column: 'email' | 'alias') =>
    last?.[column] === undefined ? undefined : lines.flatMap((line) => line[column] ?? []);
  let memberships: readonly Membership[] = before?.memberships ?? [];
  for (const kind of KINDS) memberships = membershipsOf(memberships, kind, lines, today);
  return {
    userId,
    name: last?.name ?? before?.name ?? '',
    emails: all('email') ?? before?.emails ?? [],
    aliases: all('alias') ?? before?.aliases ?? [],
    memberships: [...memberships],
  };
}

function membershipsOf(
  before: readonly Membership[],
  kind: Kind,
  lines: readonly PeopleLine[],
  today: Day,
): readonly Membership[] {
  const own = lines.filter((line) => line[kind] !== undefined);
  const [first] = own;
  if (first === undefined) return before;
  const isLead = (line: PeopleLine) => kind === 'team' && line.is_lead === true;
  // One line without days says what is so today, and not what was.
  if (own.length === 1 && first.from === undefined && first.to === undefined)
    return moved(before, { kind, name: first[kind] ?? '', isLead: isLead(first) }, today);
  return [
    ...before.filter((one) => one.kind !== kind),
    ...own.flatMap((line) => {
      const name = line[kind] ?? '';
      return name === ''
        ? []
        : [
            {
              kind,
              name,
              firstDay: line.from ?? FIRST_DAY,
              lastDay: line.to ?? LAST_DAY,
              isLead: isLead(line),
            },
          ];
    }),
  ];
}
