import { type Command, Option } from 'commander';
import { Role } from '../api/roles.js';
import { addDays, dayOf, parseDay } from '../day.js';
import { UsageError } from '../exit.js';
import { call } from '../socket/call.js';
import { table } from '../terminal/terminal.js';
import { type Invocation, note, print } from './program.js';

interface CreateOptions {
  readonly org: string;
  readonly role: Role;
  readonly name?: string;
  readonly user?: string;
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
  const { org, role, name, user, email, expires } = options;
  if (expires !== undefined && parseDay(expires, '--expires') < dayOf(clock()))
    throw new UsageError('--expires must be today or later, in UTC.');
  const { isNew, ...key } = await call(settings(), clock, 'createKey', {
    orgId: org,
    role,
    name,
    userId: user,
    email,
    expiresAt: expires === undefined ? undefined : Date.parse(addDays(parseDay(expires, '--expires'), 1)),
  });
  // Standard output has only the key, so that it can be piped.
  print(options.json === true ? JSON.stringify(key) : key.key);
  note(`This is key ${key.key_id}, ${role} of ${org}. It is shown only once.`);
  if (isNew) note(`The organization ${org} is new: if you meant another, revoke the key.`);
  if (role === 'member' && user === undefined)
    note('It belongs to no user, so it sees and sends nothing: a member needs --user.');
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
        first: ['key_id', 'name', 'role', 'user_id', 'org_id', 'revoked_at', 'expires_at'],
        rest: '--json has all',
      },
    ),
  );
}

async function revoke(name: string, { settings, clock }: Invocation): Promise<void> {
  const key = await call(settings(), clock, 'revokeKey', { name });
  print(`Key ${key.key_id} of ${key.org_id} is revoked.`);
}
