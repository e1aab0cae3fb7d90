import { hash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SOCKET } from '../disk/data-files.js';
import { codeOf, messageOf, UsageError } from '../exit.js';
import { isTold } from '../store/store-fault.js';
import { note } from '../terminal/printing.js';
import type { Progress } from '../terminal/terminal.js';
import type { CommandName, Context } from './commands.js';

/** A line of an answer: any number of `progress`, then one of the others. */
type Message =
  | { progress: [done: number, total: number] }
  | { result: unknown }
  | { error: { message: string; isUsage: boolean } };

/** Where the process that has a data folder's database open can be asked. */
export function controlPath(data: string): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\daybook-${hash('sha256', data).slice(0, 16)}`;
  const path = join(data, SOCKET);
  // A socket's path has about 100 bytes at most.
  if (Buffer.byteLength(path) <= 100) return path;
  if (process.platform === 'linux') return join(openFolder(data), SOCKET);
  return join(tmpdir(), `daybook-${hash('sha256', data).slice(0, 16)}.sock`);
}

/** Folders that are open for as long as the process runs, by their paths. */
const opened = new Map<string, string>();

/** A short path of a folder whose own is too long; its own if it can't be opened. Only for this process. */
function openFolder(folder: string): string {
  try {
    const path = opened.get(folder) ?? `/proc/self/fd/${openSync(folder, 'r')}`;
    opened.set(folder, path);
    return path;
  } catch {
    return folder;
  }
}

/** Whether a process may answer at the path. Others can make a file in a folder of temporary files, but not in the data folder. */
function canAnswer(path: string, data: string): boolean {
  // A pipe of Windows is no file.
  if (process.platform === 'win32') return true;
  return existsSync(path) && (basename(path) === SOCKET || statSync(path).uid === statSync(data).uid);
}

/** Whether a server answers commands for a data folder. */
export async function isServed(data: string): Promise<boolean> {
  const path = controlPath(data);
  if (!canAnswer(path, data)) return false;
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Answers the commands of other processes of this machine: only the user who owns the data folder can reach it. */
export async function serveControl(context: Context): Promise<Server> {
  const { runCommand } = await import('./commands.js');
  const path = controlPath(context.config.data);
  const server = createServer(async (incoming, outgoing) => {
    const send = (message: Message) => outgoing.write(`${JSON.stringify(message)}\n`);
    const isLeft = new Promise<void>((resolve) => outgoing.once('close', resolve));
    try {
      const args: unknown = JSON.parse(await text(incoming));
      const name = incoming.url?.slice(1) ?? '';
      const progress: Progress = (done, total) => send({ progress: [done, total] });
      send({ result: (await runCommand(context, name, args, progress, isLeft)) ?? null });
    } catch (error) {
      const isUsage = error instanceof UsageError || isTold(error);
      send({ error: { message: messageOf(error), isUsage } });
    }
    outgoing.end();
  });
  // Whoever has the database open is the only one: a socket that is still there belongs to a process that was killed.
  rmSync(path, { force: true });
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
    if (process.platform !== 'win32') chmodSync(path, 0o600);
  } catch (error) {
    server.close();
    throw new UsageError(
      `The socket ${path}, at which commands reach the service, can't be made (${codeOf(error)}): put the data folder on a disk that can have one, or choose a shorter path.`,
    );
  }
  return server;
}

/** Nobody answers commands for this data folder. */
export class Nobody extends Error {
  override name = 'Nobody';
}

/**
 * Has the running process run a command, until it ends or the signal says to leave it. Throws Nobody when there is none, and
 * UsageError where the message of what the command throws is for its user.
 */
export function ask(
  data: string,
  name: CommandName,
  args: unknown,
  progress: Progress,
  signal?: AbortSignal,
): Promise<unknown> {
  const path = controlPath(data);
  if (!canAnswer(path, data)) return Promise.reject(new Nobody());
  const stopped = () => new UsageError('The service stopped before it answered: run the command again.');
  return new Promise((resolve, reject) => {
    const goesOn = () => {
      if (name === 'ingest' || name === 'build')
        note(
          'The service continues the work: "daybook status" shows the result, and stopping the service ends it.',
        );
      process.exit(130);
    };
    process.once('SIGINT', goesOn);
    const asked = request({ socketPath: path, path: `/${name}`, method: 'POST' }, (answer) => {
      let rest = '';
      let outcome: (() => void) | undefined;
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const message = JSON.parse(line) as Message;
          if ('progress' in message) progress(...message.progress);
          else if ('result' in message) outcome = () => resolve(message.result);
          else
            outcome = () =>
              reject(
                message.error.isUsage
                  ? new UsageError(message.error.message)
                  : new Error(message.error.message),
              );
        }
      });
      answer.on('end', () => (outcome ?? (() => reject(stopped())))());
      answer.on('error', () => reject(stopped()));
    });
    asked.on('close', () => process.off('SIGINT', goesOn));
    asked.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EACCES' || error.code === 'EPERM')
        reject(new UsageError(`Another user runs the service on ${data}: run the command as that user.`));
      else if (error.code === 'ECONNRESET' || error.code === 'EPIPE') reject(stopped());
      else reject(new Nobody());
    });
    signal?.addEventListener('abort', () => {
      asked.destroy();
      resolve(undefined);
    });
    asked.end(JSON.stringify(args));
  });
}
