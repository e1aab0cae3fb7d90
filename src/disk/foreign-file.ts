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

/** A file that isn't read. `reason` is a clause, such as "it is a pipe". */
export class LeftOut extends UsageError {
  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(`${path} is left out, because ${reason}.`);
  }
}

/** The system's error codes for a path that names nothing, and for one that stays unreadable until somebody changes it. */
const NOTHING_THERE = ['ENOENT', 'ENOTDIR'];
const OF_FILE = ['EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG', 'ENODEV', 'ENXIO'];

/** The options for reading a foreign file. */
interface Options {
  /** How many bytes a file can have. */
  readonly limitBytes?: number;
  /** Whether links are followed, as by default. */
  readonly followsLinks?: boolean;
}

/** An open file with its attributes. */
interface Opened {
  readonly descriptor: number;
  readonly found: BigIntStats;
}

/**
 * Opens a file that somebody else wrote or could have replaced. No other function opens such files. Answers undefined if the path names
 * nothing. Throws LeftOut for anything but a regular file, and if the file can't be read or is too large; throws the system's error
 * if the disk or the machine is at fault.
 *
 * A device isn't even opened, since opening one can have effects. If a device or pipe replaces the file just before it is opened,
 * opening it doesn't block.
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

/** Opens a foreign file once, and answers its size in bytes; undefined if there is none. Throws LeftOut as openForeign does. */
export function checkForeign(path: string, options?: Options): number | undefined {
  const opened = openForeign(path, options);
  if (opened === undefined) return undefined;
  closeSync(opened.descriptor);
  return Number(opened.found.size);
}

/** The bytes that a foreign file had when it was opened; undefined if there is none. Throws LeftOut as openForeign does. */
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

/** A stream of a foreign file's bytes. Throws LeftOut as openForeign does, and if the file is gone. */
export function streamForeign(path: string): ReadStream {
  const opened = openForeign(path);
  if (opened === undefined) throw new LeftOut(path, 'it is gone');
  return createReadStream(path, { fd: opened.descriptor, highWaterMark: 1 << 20 });
}

function requireFile(path: string, found: BigIntStats, limitBytes: number): void {
  if (!found.isFile()) throw new LeftOut(path, `it is ${kindOf(found)} and not a file`);
  if (found.size > limitBytes) throw new LeftOut(path, `it has more than ${mebibytes(limitBytes)}`);
}

/** A limit in words. */
export function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}

/** The error for a path that the system doesn't let us read. */
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
