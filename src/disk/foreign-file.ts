import {
  type BigIntStats,
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  lstatSync,
  openSync,
  type ReadStream,
  readSync,
  statSync,
} from 'node:fs';
import { codeOf, UsageError } from '../exit.js';

/** A file that isn't read. `reason` is a clause: "it is a pipe". */
export class LeftOut extends UsageError {
  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(`${path} is left out, because ${reason}.`);
  }
}

/** What the system says of a path that names nothing, and of one that can't be read, for as long as nobody changes it. */
const NOTHING_THERE = ['ENOENT', 'ENOTDIR'];
const OF_FILE = ['EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG', 'ENODEV', 'ENXIO'];

/** How foreign files are read. */
interface Options {
  /** How large a file may be: bytes. */
  readonly limitBytes?: number;
  /** Whether a link leads to the file, as by default. */
  readonly followsLinks?: boolean;
}

/** A file that is open, and what the system says of it. */
interface Opened {
  readonly descriptor: number;
  readonly found: BigIntStats;
}

/**
 * Opens a file that somebody else wrote, or put something else in the place of: the only way to open one. Answers undefined where nothing is.
 * Throws LeftOut for whatever isn't a regular file, may not be read, or is too large, and the system's error where the disk or the machine is at
 * fault.
 *
 * A device is not even opened, since that can do something. If it takes the place of a file just then, opening it doesn't wait for
 * anybody, as opening a pipe otherwise does.
 */
export function openForeign(
  path: string,
  { limitBytes = Number.POSITIVE_INFINITY, followsLinks = true }: Options = {},
): Opened | undefined {
  let descriptor: number | undefined;
  try {
    requireFile(path, (followsLinks ? statSync : lstatSync)(path, { bigint: true }), limitBytes);
    const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
    descriptor = openSync(path, followsLinks ? flags : flags | (constants.O_NOFOLLOW ?? 0));
    const found = fstatSync(descriptor, { bigint: true });
    requireFile(path, found, limitBytes);
    return { descriptor, found };
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    const code = codeOf(error);
    if (NOTHING_THERE.includes(code)) return undefined;
    throw OF_FILE.includes(code) ? unreadable(path, code) : error;
  }
}

/** The size of a foreign file in bytes, once it has been opened; undefined where nothing is. Throws LeftOut as openForeign does. */
export function checkForeign(path: string, options?: Options): number | undefined {
  const opened = openForeign(path, options);
  if (opened === undefined) return undefined;
  closeSync(opened.descriptor);
  return Number(opened.found.size);
}

/** The first bytes of a foreign file, as many as it had when it was opened; undefined where nothing is. Throws LeftOut as openForeign does. */
export function readForeign(
  path: string,
  options: Options & { readonly limitBytes: number },
): Buffer | undefined {
  const opened = openForeign(path, options);
  if (opened === undefined) return undefined;
  try {
    const bytes = Buffer.alloc(Number(opened.found.size));
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(opened.descriptor, bytes, length, bytes.length - length, length);
    return bytes.subarray(0, length);
  } finally {
    closeSync(opened.descriptor);
  }
}

/** The bytes of a foreign file as a stream. Throws LeftOut as openForeign does, and for a file that is gone. */
export function streamForeign(path: string): ReadStream {
  const opened = openForeign(path);
  if (opened === undefined) throw new LeftOut(path, 'it is gone');
  return createReadStream(path, { fd: opened.descriptor, highWaterMark: 1 << 20 });
}

function requireFile(path: string, found: BigIntStats, limitBytes: number): void {
  if (!found.isFile()) throw new LeftOut(path, `it is ${kindOf(found)} and not a file`);
  if (found.size > limitBytes) throw new LeftOut(path, `it has more than ${mebibytes(limitBytes)}`);
}

/** A limit for people. */
export function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}

/** The error for what the system doesn't let us read. */
export function unreadable(path: string, code: string): LeftOut {
  const isForbidden = code === 'EACCES' || code === 'EPERM';
  return new LeftOut(
    path,
    isForbidden ? 'its permissions keep it from being read' : `it can't be read (${code})`,
  );
}

function kindOf(found: BigIntStats): string {
  if (found.isDirectory()) return 'a folder';
  if (found.isFIFO()) return 'a pipe';
  if (found.isSocket()) return 'a socket';
  return found.isSymbolicLink() ? 'a link' : 'a device';
}
