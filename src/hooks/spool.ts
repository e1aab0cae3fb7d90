import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { sync } from '../disk/refusals.js';
import { rename, rm } from '../disk/renames.js';
import { codeOf, UsageError } from '../exit.js';
import type { Answer, Outgoing } from '../network/outgoing.js';

/**
 * Payloads on their way to a server, as files that are deleted once the server has accepted them. `hooks send` loads nothing but
 * this, so that it starts fast.
 */

/** The default folder of the connection and the spool of hooks. */
export const HOOKS_FOLDER = join(homedir(), '.daybook', 'hooks');

/** How many payloads can wait. Further ones are lost, and their sender is told. */
const SPOOL_FILES = 20_000;
/** A deliverer that has run for this long counts as gone. None runs for so long. */
const DELIVERER_HOLDS_MS = 60_000;
const ANSWER_MS = 10_000;

/** The server, and the key for it. */
export interface Connection {
  readonly server: string;
  readonly key: string;
  /** The user of the sessions, if the key belongs to no user. */
  readonly user?: string | undefined;
  /** The path of a PEM file with certificate authorities that are trusted beside those of Node.js. */
  readonly authorities?: string | undefined;
}

/** Writes a file that only its owner can read: whole or not at all, and synced to disk. */
export async function writePrivate(folder: string, name: string, text: string | Uint8Array): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${name}.${randomUUID()}`);
  try {
    const file = await open(draft, 'wx', 0o600);
    await file
      .writeFile(text)
      .then(() => file.sync())
      .finally(() => file.close());
    await rename(draft, join(folder, name));
    await sync(folder);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** The connection of a folder; undefined if none was set up. */
export async function connectionOf(folder: string): Promise<Connection | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, 'connection.json'), 'utf8')) as Connection;
  } catch {
    return undefined;
  }
}

/** The names of the documents that wait in a folder's spool, the oldest first. They begin with their instant. */
export async function waitingIn(spool: string): Promise<string[]> {
  try {
    return (await readdir(spool)).filter((name) => name.endsWith('.json')).sort();
  } catch {
    return [];
  }
}

/** Spools a document until the server has it. Throws if the spool is full. `now` is Unix milliseconds. */
export async function keep(folder: string, document: object, now: number): Promise<void> {
  const spool = join(folder, 'spool');
  if ((await waitingIn(spool)).length >= SPOOL_FILES)
    throw new Error(
      `Too many events wait in ${spool}, and this one is lost: make sure that the service can be reached.`,
    );
  await writePrivate(spool, `${now}-${randomUUID()}.json`, JSON.stringify(document));
}

/** The result of a delivery: all sent, out of time, or the reason why something was not sent. */
export type Delivery = 'sent' | 'late' | { readonly refused: string };

/** Sends the spooled documents, oldest first, until `signal` says that time is up. */
export async function deliver(folder: string, signal: AbortSignal): Promise<Delivery> {
  const spool = join(folder, 'spool');
  const names = await waitingIn(spool);
  if (names.length === 0) return 'sent';
  const connection = await connectionOf(folder);
  if (connection === undefined) return { refused: 'no service is configured: run "daybook hooks install"' };
  let outgoing: Outgoing | undefined;
  let left: string | undefined;
  try {
    const { Outgoing } = await import('../network/outgoing.js');
    outgoing = await Outgoing.to(connection.server, connection.authorities);
    for (const name of names) {
      const path = join(spool, name);
      let text: string;
      try {
        text = await readFile(path, 'utf8');
      } catch (error) {
        // Another deliverer has sent it meanwhile.
        if (codeOf(error) === 'ENOENT') continue;
        return { refused: `${path} can't be read (${codeOf(error)})` };
      }
      const user = connection.user === undefined ? {} : { user_id: connection.user };
      const document = documentOf(text);
      if (document === undefined) {
        if (await setAside(path, 'damaged')) left = `${path}.damaged is no JSON, and was left out`;
        continue;
      }
      const { status, detail } = await post(
        outgoing,
        connection,
        JSON.stringify({ ...user, ...document }),
        signal,
      );
      if (status === 202) await rm(path, { force: true });
      // The service will never accept this document. A 4xx without a detail comes from a proxy, and says nothing about it.
      else if ((status === 400 || status === 413) && detail !== undefined) {
        if (await setAside(path, 'refused'))
          left = `${path}.refused was left out, because the server answered ${status}: ${detail}`;
      } else return { refused: `the server answered ${status}` };
    }
    return left === undefined ? 'sent' : { refused: left };
  } catch (error) {
    if (signal.aborted) return 'late';
    if (error instanceof UsageError) return { refused: error.message };
    const { whyUnreachable } = await import('../network/unreachable.js');
    return { refused: `${connection.server} can't be reached${whyUnreachable(error)}` };
  } finally {
    outgoing?.close();
  }
}

/** Moves a file out of the way, under a name that says why. Answers false if another process has already taken it. */
export async function setAside(path: string, why: 'damaged' | 'refused'): Promise<boolean> {
  try {
    await rename(path, `${path}.${why}`);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** The document in a file; undefined if it is damaged. */
function documentOf(text: string): object | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function post(
  outgoing: Outgoing,
  { key }: Connection,
  body: string,
  signal: AbortSignal,
): Promise<Answer> {
  const late = AbortSignal.timeout(ANSWER_MS);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  try {
    const both = AbortSignal.any([signal, late]);
    return await outgoing.send('POST', '/api/v1/hooks', { headers, body, signal: both });
  } catch (error) {
    if (late.aborted && !signal.aborted) throw new Error('it does not answer');
    throw error;
  }
}

/**
 * Sends the spooled documents, and those that arrive meanwhile, as the folder's only deliverer. Answers undefined if there already
 * is one.
 */
export async function deliverAlone(
  folder: string,
  signal: AbortSignal,
  now: number,
): Promise<Delivery | undefined> {
  const { OnlyOne } = await import('../disk/only-one.js');
  const spool = join(folder, 'spool');
  let refused: Delivery | undefined;
  for (;;) {
    const one = OnlyOne.at(join(folder, 'delivering'), DELIVERER_HOLDS_MS, () => now);
    if (one === undefined) return refused;
    const [first] = await waitingIn(spool);
    const delivery = await deliver(folder, signal).finally(() => one.end());
    if (signal.aborted) return 'late';
    if (delivery !== 'sent') refused = delivery;
    // A payload may have arrived while this deliverer was finishing, or leaving another one out: look again.
    const [next] = await waitingIn(spool);
    if (next === undefined || (delivery !== 'sent' && next === first)) return refused ?? delivery;
  }
}
