import { hash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, openSync, statSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SOCKET } from '../disk/data-files.js';
import { can } from '../disk/refusals.js';
import { rmSync } from '../disk/renames.js';
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

/** The path of the socket of the process that has a data folder's database open. */
export function controlPath(data: string): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\daybook-${hash('sha256', data).slice(0, 16)}`;
  const path = join(data, SOCKET);
  // A socket's path can have about 100 bytes.
  if (Buffer.byteLength(path) <= 100) return path;
  if (process.platform === 'linux') return join(openFolder(data), SOCKET);
  return join(tmpdir(), `daybook-${hash('sha256', data).slice(0, 16)}.sock`);
}

/** Folders that stay open as long as the process runs, by path. */
const opened = new Map<string, string>();

/** A short path, for this process only, of a folder with a long one; the long one if the folder can't be opened. */
function openFolder(folder: string): string {
  try {
    const path = opened.get(folder) ?? `/proc/self/fd/${openSync(folder, 'r')}`;
    opened.set(folder, path);
    return path;
  } catch {
    return folder;
  }
}

/** Whether to trust a socket. Other users can create files in a temporary folder, but not in the data folder. */
function canAnswer(path: string, data: string): boolean {
  // A Windows pipe is no file.
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

/** Answers the commands of other processes on this machine. Only the owner of the data folder can connect. */
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
  // Only this process has the database open, so an existing socket is left over from a killed process.
  rmSync(path, { force: true });
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
    // Lets only the owner connect, also if others can enter the folder. A disk without modes lets in whom it lets in.
    if (process.platform !== 'win32') can(() => chmodSync(path, 0o600));
  } catch (error) {
    server.close();
    throw new UsageError(
      `The socket ${path}, at which commands reach the service, can't be made (${codeOf(error)}): put the data folder on a disk that can have one, or choose a shorter path.`,
    );
  }
  return server;
}

/** No process answers commands for this data folder. */
export class Nobody extends Error {
  override name = 'Nobody';
}

/**
 * Asks the running process to run a command, until it ends or the signal abandons it. Throws Nobody if no process runs, and a UsageError
 * if the command's error is meant for its user.
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
