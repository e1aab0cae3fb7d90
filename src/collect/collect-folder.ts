import { hash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { readForeign } from '../disk/foreign-file.js';
import { rmSync } from '../disk/renames.js';
import { UsageError } from '../exit.js';
import { writePrivate } from '../hooks/spool.js';
import { nameText } from '../input/name-text.js';

/**
 * The folder in which `collect` keeps its files:
 *
 *     connection.json           the server and the key of the installed schedule
 *     senders/<key>.json        the organization and user of a key, by its hash
 *     <target>/                 a server, an organization and a user
 *         files.json            the files that were read, and their states
 *         sent/<file>           the digests of their events
 *         spool/<body>          events that the server doesn't have yet
 *         work/                 temporary files while events are mapped
 *         status.json           what was sent when
 */
export const COLLECT_FOLDER = join(homedir(), '.daybook', 'collect');

const Connection = z.object({
  server: z.url({ protocol: /^https?$/, error: 'must be an address as https://daybook.acme.example' }),
  key: z.string().regex(/^\S{1,8192}$/, 'must be an API key'),
  user: nameText(128).optional(),
});

/** A server and the key for it. `user` owns the events if the key belongs to no user. */
export type Connection = z.infer<typeof Connection>;

/** The organization and user whose events a key sends. */
export interface Sender {
  readonly orgId: string;
  /** The key's own user. */
  readonly userId: string | null;
  /** Whether it may send events of that user alone. */
  readonly isOnlyUser: boolean;
}

/** A server, an organization and a user, and the folder that records what was sent there. */
export interface Target {
  readonly server: string;
  readonly orgId: string;
  readonly userId: string;
  readonly folder: string;
}

/** How many bytes a JSON file can have. It can name all files of all agents. */
const JSON_BYTES = 256 << 20;

/** The parsed content of a JSON file; undefined if it doesn't exist or isn't JSON. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(String(readForeign(path, { limitBytes: JSON_BYTES })));
  } catch {
    return undefined;
  }
}

/** The connection from the options, or else the installed one. Throws a UsageError if there is none, or if it is invalid. */
export function connectionOf(
  folder: string,
  given: { [name in keyof Connection]?: string | undefined },
): Connection {
  const installed = readJson(join(folder, 'connection.json'));
  if (given.server === undefined && given.key === undefined) {
    const known = Connection.safeParse(installed);
    if (known.success) return given.user === undefined ? known.data : { ...known.data, user: given.user };
  }
  if (given.server === undefined || given.key === undefined)
    throw new UsageError(
      'Name the service with --server (or DAYBOOK_URL) and its key with --key (or DAYBOOK_KEY), or run "daybook collect install" once.',
    );
  const server = serverOf(given.server);
  const parsed = Connection.safeParse(given);
  if (parsed.success) return { ...parsed.data, server };
  const [issue] = parsed.error.issues;
  throw new UsageError(`--${String(issue?.path[0])} ${issue?.message}.`);
}

/** The address of a service. Throws a UsageError for one that is wrong. */
export function serverOf(given: string): string {
  const { data, error } = Connection.shape.server.safeParse(given);
  if (error === undefined) return data.replace(/(?<!\/)\/+$/, '');
  throw new UsageError(`--server ${error.issues[0]?.message}.`);
}

/** Saves a connection for scheduled runs. */
export function saveConnection(folder: string, connection: Connection): Promise<void> {
  return writePrivate(folder, 'connection.json', `${JSON.stringify(connection)}\n`);
}

/** Forgets the server and its key, but not the sent files. */
export function forgetConnection(folder: string): void {
  rmSync(join(folder, 'connection.json'), { force: true });
}

/** The target of a connection. `ask` asks the server whose events the key sends, once per key. Throws a UsageError without a user. */
export async function targetOf(
  folder: string,
  { server, key, user }: Connection,
  ask: () => Promise<Sender>,
): Promise<Target> {
  const name = `${hash('sha256', `${server} ${key}`).slice(0, 16)}.json`;
  let sender = readJson(join(folder, 'senders', name)) as Sender | undefined;
  if (sender === undefined) {
    sender = await ask();
    await writePrivate(join(folder, 'senders'), name, `${JSON.stringify(sender)}\n`);
  }
  const { orgId, userId, isOnlyUser } = sender;
  if (isOnlyUser && user !== undefined && user !== userId)
    throw new UsageError(`This key sends only events of ${userId}: leave --user out.`);
  const whose = user ?? userId;
  if (whose === null)
    throw new UsageError('This key belongs to no user: say with --user whose sessions these are.');
  return {
    server,
    orgId,
    userId: whose,
    folder: join(folder, hash('sha256', JSON.stringify([server, orgId, whose])).slice(0, 16)),
  };
}
