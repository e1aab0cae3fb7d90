import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { codeOf, messageOf } from '../exit.js';
import type { Answer, Outgoing } from '../network/outgoing.js';

/**
 * Payloads on their way to a server, as files: what is kept is on disk, and goes when the server has it. This is all that
 * `hooks send` loads, so that it starts at once.
 */

/** Where hooks have their connection and what waits, unless somebody says otherwise. */
export const HOOKS_FOLDER = join(homedir(), '.daybook', 'hooks');

/** How many payloads may wait: those that come then are lost, and whoever sends them is told. */
const SPOOL_FILES = 20_000;
/** After this time a deliverer counts as gone. It goes on for less. */
const DELIVERER_HOLDS_MS = 60_000;
const ANSWER_MS = 10_000;

/** The server, and what opens it. */
export interface Connection {
  readonly server: string;
  readonly key: string;
  /** Whose sessions they are, where the key doesn't say. */
  readonly user?: string;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}

/** Writes a file that only its owner can read: whole or not at all, and on disk. */
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
    await syncFolder(folder);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** The connection of a folder; undefined when none was set up. */
export async function connectionOf(folder: string): Promise<Connection | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, 'connection.json'), 'utf8')) as Connection;
  } catch {
    return undefined;
  }
}

async function waitingIn(spool: string): Promise<string[]> {
  try {
    return (await readdir(spool)).filter((name) => name.endsWith('.json')).sort();
  } catch {
    return [];
  }
}

/** Keeps a document until the server has it. Throws when as many wait as may. `now` is Unix milliseconds. */
export async function keep(folder: string, document: object, now: number): Promise<void> {
  const spool = join(folder, 'spool');
  if ((await waitingIn(spool)).length >= SPOOL_FILES)
    throw new Error(
      `Too many events wait in ${spool}, and this one is lost: make sure that the service can be reached.`,
    );
  await writePrivate(spool, `${now}-${randomUUID()}.json`, JSON.stringify(document));
}

/** What became of what waits: all sent, some of it not yet, or the server doesn't take it now. */
export type Delivery = 'sent' | 'late' | { readonly refused: string };

/** Sends what waits, the oldest first, until `signal` says that there is no more time. */
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
    outgoing = await Outgoing.to(connection.server);
    for (const name of names) {
      const path = join(spool, name);
      let text: string;
      try {
        text = await readFile(path, 'utf8');
      } catch (error) {
        // Another deliverer has sent it.
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
      // What the service can't take now it never will. A proxy that answers in its place says nothing of that.
      else if ((status === 400 || status === 413) && detail !== undefined) {
        if (await setAside(path, 'refused'))
          left = `${path}.refused was left out, because the server answered ${status}: ${detail}`;
      } else return { refused: `the server answered ${status}` };
    }
    return left === undefined ? 'sent' : { refused: left };
  } catch (error) {
    if (signal.aborted) return 'late';
    const { certificateFaultOf } = await import('../network/certificate.js');
    const reason = messageOf(error);
    const fault = certificateFaultOf(error);
    return {
      refused: fault === undefined ? reason : `${connection.server} can't be reached, because ${fault}`,
    };
  } finally {
    outgoing?.close();
  }
}

/** Puts a file out of everybody's way, under a name that says why; answers false if another process has taken it. */
export async function setAside(path: string, why: 'damaged' | 'refused'): Promise<boolean> {
  try {
    await rename(path, `${path}.${why}`);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** What a file has; undefined if it is damaged. */
function documentOf(text: string): object | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Posts a document. */
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
    if (late.aborted && !signal.aborted) throw new Error('the service does not answer');
    throw error;
  }
}

/**
 * Sends what waits as the only one who does for the folder, also what comes meanwhile; answers undefined when another one is
 * at it.
 */
export async function deliverAlone(
  folder: string,
  signal: AbortSignal,
  now: number,
): Promise<Delivery | undefined> {
  const { OnlyOne } = await import('../disk/only-one.js');
  for (;;) {
    const one = OnlyOne.at(join(folder, 'delivering'), DELIVERER_HOLDS_MS, () => now);
    if (one === undefined) return undefined;
    const delivery = await deliver(folder, signal).finally(() => one.end());
    if (signal.aborted) return 'late';
    // Who came just before this one ended has left it to this one.
    if (delivery !== 'sent' || (await waitingIn(join(folder, 'spool'))).length === 0) return delivery;
  }
}
