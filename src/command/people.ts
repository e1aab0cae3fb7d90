import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { dayOf } from '../day.js';
import { readForeign } from '../disk/foreign-file.js';
import { UsageError } from '../exit.js';
import { call } from '../socket/call.js';
import { count, table } from '../terminal/terminal.js';
import { type Invocation, note, print } from './program.js';

/** The largest file of people. */
const FILE_BYTES = 64 << 20;

interface ImportOptions {
  readonly org: string;
  readonly apply?: boolean;
  readonly replace?: boolean;
  readonly json?: boolean;
}

interface EraseOptions {
  readonly org: string;
  readonly apply?: boolean;
  readonly json?: boolean;
}

interface ReadOptions {
  readonly org: string;
  readonly json?: boolean;
}

/** Adds `people` to the program. */
export function add(program: Command, invocation: Invocation): void {
  const people = program
    .command('people')
    .description('say who the users are: their other names, teams and cost centres');

  people
    .command('list')
    .description('list the people with what they belong to today')
    .requiredOption('--org <org>', 'organization')
    .option('--json', 'print JSON, with all days')
    .action((options: ReadOptions) => list(options, invocation));

  people
    .command('import')
    .description('add and change people as a CSV file says; print what would change first')
    .argument('<file>', 'CSV whose first line names the columns: see docs/people.md')
    .requiredOption('--org <org>', 'organization')
    .option('--apply', 'make the changes count')
    .option('--replace', 'remove people who are not in the file')
    .option('--json', 'print JSON')
    .action((file: string, options: ImportOptions) => importFile(file, options, invocation));

  people
    .command('erase')
    .description(
      'give the place of a person to a random pseudonym everywhere, for ever; print what would change first',
    )
    .argument('<user>', 'user id, alias or address of the person')
    .requiredOption('--org <org>', 'organization')
    .option('--apply', 'erase the person')
    .option('--json', 'print JSON')
    .action((user: string, options: EraseOptions) => erase(user, options, invocation));

  people
    .command('proposals')
    .description("list users who may be the same person, and what vendors' lists propose")
    .requiredOption('--org <org>', 'organization')
    .option('--csv', "print what vendors' lists propose as a file to correct and import")
    .option('--json', 'print JSON')
    .action((options: ReadOptions & { readonly csv?: boolean }) => propose(options, invocation));
}

async function erase(
  erased: string,
  { org, apply = false, json }: EraseOptions,
  { settings, clock }: Invocation,
): Promise<void> {
  const erasure = await call(settings(), clock, 'erasePerson', {
    ...{ orgId: org, erased, user: userInfo().username, isTrial: !apply },
  });
  if (json === true) return print(JSON.stringify({ ...erasure, applied: apply }));
  const { pseudonym, names, counts, deleted, begunAt } = erasure;
  print(
    apply
      ? `${pseudonym} takes the person's place in ${org}, under ${count(names, 'name')}:`
      : `A pseudonym would take the person's place in ${org}, under ${count(names, 'name')}:`,
  );
  print(table(counts.filter((one) => one.count > 0).map((one) => ({ ...one }))));
  if (deleted.length > 0)
    print([apply ? 'These files were deleted:' : 'These files would be deleted:', ...deleted].join('\n'));
  print(
    apply
      ? [
          `Backups made before ${new Date(begunAt).toISOString()} still hold the person, as do`,
          "logs of the system and files on the person's laptop: delete them, and erase the",
          'person again after you restore such a backup.',
        ].join('\n')
      : [
          'Nothing has changed yet. With --apply it counts, and cannot be undone.',
          'Backups that you made elsewhere would still hold the person.',
        ].join('\n'),
  );
}

async function list({ org, json }: ReadOptions, { settings, clock }: Invocation): Promise<void> {
  const { people } = await call(settings(), clock, 'listPeople', { orgId: org });
  if (json === true) return print(JSON.stringify(people));
  if (people.length === 0)
    return print('There are none yet: "daybook people import" reads them from a CSV file.');
  const today = dayOf(clock());
  print(
    table(
      people.map(({ userId, name, emails, aliases, memberships }) => {
        const present = memberships.filter(({ firstDay, lastDay }) => firstDay <= today && today <= lastDay);
        const of = (wanted: string) => present.find(({ kind }) => kind === wanted)?.name;
        return {
          ...{ user_id: userId, name, team: of('team'), cost_center: of('cost_center') },
          ...{ email: emails[0], aliases: [...emails.slice(1), ...aliases].join(' ') },
        };
      }),
      { rest: 'use --json' },
    ),
  );
}

async function importFile(
  file: string,
  { org, apply = false, replace = false, json }: ImportOptions,
  { settings, clock }: Invocation,
): Promise<void> {
  const { peopleFile, peopleText } = await import('../people/people-file.js');
  const { lines, ignored } = peopleFile(peopleText(bytesOf(file), file), file);
  if (ignored.length > 0)
    note(
      `${file} has columns that people don't have, of which nothing is stored: ${ignored.map((name) => name.slice(0, 100)).join(', ')}.`,
    );
  const { changes, days } = await call(settings(), clock, 'importPeople', {
    ...{ orgId: org, lines, user: userInfo().username },
    ...{ replaces: replace, isTrial: !apply },
  });
  if (json === true) return print(JSON.stringify({ changes, days, applied: apply }));
  if (changes.length === 0) return print(`${file} changes nobody.`);
  for (const { user_id, change } of changes) print(`${user_id}: ${change}`);
  const said = `${file} changes ${changes.length === 1 ? '1 person' : `${changes.length} people`}`;
  if (!apply) return print(`${said}: nothing has changed yet. With --apply it counts.`);
  print(
    days === 0
      ? `${said}: they count now.`
      : `${said}: they count now, and for ${count(days, 'day')} from the next build on ("daybook build").`,
  );
}

function bytesOf(file: string): Uint8Array {
  let bytes: Uint8Array | undefined;
  try {
    bytes = readForeign(file, { limitBytes: FILE_BYTES });
  } catch {}
  if (bytes === undefined)
    throw new UsageError(`${file} can't be read: name a readable CSV file of at most 64 MiB.`);
  return bytes;
}

async function propose(
  { org, json, csv }: ReadOptions & { readonly csv?: boolean },
  { settings, clock }: Invocation,
): Promise<void> {
  const { proposals, listed, file } = await call(settings(), clock, 'proposePeople', { orgId: org });
  if (json === true) return print(JSON.stringify({ proposals, listed }));
  if (csv === true) return print(file.trimEnd());
  if (proposals.length === 0) print('No two users look like the same person.');
  else {
    print(table(proposals.map((proposal) => ({ ...proposal }))));
    print(
      'Where they are one person, import a CSV file with the columns user_id and alias ("daybook people import").',
    );
  }
  if (listed.length === 0) return;
  print(
    table(
      listed.map(({ report, name, fullName, userId, likelyUserId, teams, isUnused }) => ({
        ...{ report, name, full_name: fullName, user_id: userId, may_be: likelyUserId },
        ...{ teams: teams.join(' '), unused: isUnused ? 'yes' : '' },
      })),
      { rest: 'use --json' },
    ),
  );
  print(
    `What vendors list counts once you import it: "daybook people proposals --org ${org} --csv" writes the file.`,
  );
}
