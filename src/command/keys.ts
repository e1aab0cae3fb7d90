import { type Command, Option } from 'commander';
import { Role } from '../api/roles.js';
import { addDays, dayOf, parseDay } from '../day.js';
import { UsageError } from '../exit.js';
import { call } from '../socket/call.js';
import { csvLine } from '../terminal/csv-line.js';
import { printData } from '../terminal/printing.js';
import { count, table } from '../terminal/terminal.js';
import { inOrganization, NEW } from './new-organization.js';
import { type Invocation, note, print } from './program.js';
import { usersIn } from './users-file.js';

interface CreateOptions {
  readonly org: string;
  readonly role: Role;
  readonly name?: string;
  readonly user?: string;
  readonly users?: string;
  readonly new?: boolean;
  readonly email?: string;
  readonly expires?: string;
  readonly json?: boolean;
}

/** Adds `keys` to the program. */
export function add(program: Command, invocation: Invocation): void {
  const keys = program.command('keys').description('create, list and revoke API keys');

  keys
    .command('create')
    .description('create a key and print it; it is shown only once')
    .requiredOption('--org <org>', 'organization')
    .addOption(new Option('--role <role>', 'what the key may do').choices(Role.options).makeOptionMandatory())
    .option('--name <name>', 'what the key is for')
    .option('--user <id>', 'user or service that the key belongs to')
    .option('--email <address>', 'e-mail address of the user')
    .option(
      '--users <file>',
      'make a key for each user in this file: a line is "ada" or "ada,ada@acme.example"',
    )
    .option(...NEW)
    .option('--expires <day>', 'last day on which the key is valid')
    .option('--json', 'print JSON')
    .action((options: CreateOptions) => create(options, invocation));

  keys
    .command('list')
    .description('list keys with their ids and fingerprints')
    .option('--org <org>', 'only this organization')
    .option('--json', 'print JSON')
    .action((options: { org?: string; json?: boolean }) => list(options, invocation));

  keys
    .command('revoke')
    .description('revoke a key; applies to the next request')
    .argument('<key>', 'id or fingerprint of the key')
    .action((name: string) => revoke(name, invocation));
}

async function create(options: CreateOptions, { settings, clock }: Invocation): Promise<void> {
  const { org, role, name, user, users, email, expires } = options;
  if (expires !== undefined && parseDay(expires, '--expires') < dayOf(clock()))
    throw new UsageError('--expires must be today or later, in UTC.');
  if (users !== undefined && (user ?? email) !== undefined)
    throw new UsageError("--users can't be combined with --user or --email: the file has both.");
  if (role === 'member' && (user ?? users) === undefined)
    throw new UsageError('A key of role member needs --user: without one it would see and send nothing.');
  const wanted = {
    orgId: org,
    role,
    name,
    userId: user,
    email,
    users: users === undefined ? undefined : usersIn(users),
    expiresAt: expires === undefined ? undefined : Date.parse(addDays(parseDay(expires, '--expires'), 1)),
  };
  const { keys, isNew } = await inOrganization(options, 'No key was made.', (isNew) =>
    call(settings(), clock, 'createKey', { ...wanted, isNew }),
  );
  // Standard output has only the keys, so that it can be piped.
  if (options.json === true) print(JSON.stringify(users === undefined ? keys[0] : keys));
  else if (users === undefined) print(keys[0]?.key ?? '');
  else printData(keys.map(({ user_id, key }) => csvLine([user_id, key])).join(''), process.stdout);
  note(
    users === undefined
      ? `This is key ${keys[0]?.key_id}, ${role} of ${org}. It is shown only once.`
      : `These are ${count(keys.length, 'key')}, ${role} of ${org}. They are shown only once.`,
  );
  if (isNew) note(`The organization ${org} is new.`);
}

async function list(
  options: { org?: string; json?: boolean },
  { settings, clock }: Invocation,
): Promise<void> {
  const found = await call(settings(), clock, 'listKeys', { orgId: options.org });
  if (options.json === true) return print(JSON.stringify(found));
  const instant = (at: number | null) => (at === null ? '' : new Date(at).toISOString());
  print(
    table(
      found.map(({ created_at, expires_at, revoked_at, ...key }) => ({
        ...key,
        created_at: instant(created_at),
        expires_at: instant(expires_at),
        revoked_at: instant(revoked_at),
      })),
      {
        first: ['key_id', 'name', 'role', 'user_id', 'org_id', 'last_used_on', 'revoked_at', 'expires_at'],
        rest: '--json has all',
      },
    ),
  );
}

async function revoke(name: string, { settings, clock }: Invocation): Promise<void> {
  const key = await call(settings(), clock, 'revokeKey', { name });
  print(`Key ${key.key_id} of ${key.org_id} is revoked.`);
}
