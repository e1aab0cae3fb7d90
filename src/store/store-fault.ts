import { isFull } from '../disk/folder.js';

/** The store can't do this now, but can later. The message is for the caller. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';

  constructor(
    message = 'The database had to be reopened after a failure: try again in a moment.',
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The disk is full, so the work was undone. */
export class StoreFull extends StoreUnavailable {
  override name = 'StoreFull';

  constructor(options?: ErrorOptions) {
    super('The disk of the data folder is full: make room there and try again.', options);
  }
}

/** The data folder can't be written, so the work was undone. */
export class StoreUnwritable extends StoreUnavailable {
  override name = 'StoreUnwritable';

  constructor(options?: ErrorOptions) {
    super("The data folder can't be written: change that and try again.", options);
  }
}

/** The work needs more memory than the database may use, and was undone. */
export class StoreOutOfMemory extends Error {
  override name = 'StoreOutOfMemory';

  constructor(options?: ErrorOptions) {
    super('The database ran out of memory: ask for less at once, or raise DAYBOOK_MEMORY_MB.', options);
  }
}

/** Whether the message of an error tells the caller how to mend it. */
export function isTold(error: unknown): error is StoreUnavailable | StoreOutOfMemory {
  return error instanceof StoreUnavailable || error instanceof StoreOutOfMemory;
}

/** Whether DuckDB needs more memory than it may use. */
export function isOutOfMemory(error: unknown): boolean {
  return (
    error instanceof StoreOutOfMemory ||
    (error instanceof Error && /^Out of Memory Error/.test(error.message))
  );
}

/** Whether DuckDB has given up on a database: nothing works on it until it is opened again. */
export function isFatal(error: unknown): boolean {
  return error instanceof Error && /^FATAL Error|database has been invalidated/.test(error.message);
}

/** Whether there was no room on the disk, for DuckDB or for a file. */
export function isOutOfRoom(error: unknown): boolean {
  return (
    error instanceof StoreFull ||
    (error instanceof Error && /No space left on device|Disk quota exceeded/i.test(error.message))
  );
}

/** Whether something failed for a reason of the store itself, whatever was asked of it. */
export function isOfStore(error: unknown): boolean {
  return error instanceof StoreUnavailable || isFull(error) || isOutOfRoom(error);
}

/** Whether DuckDB could not write a file for another reason. */
export function isUnwritable(error: unknown): boolean {
  return error instanceof Error && /Could not write file|Read-only file system/i.test(error.message);
}

/** Whether the system did not let DuckDB read a file, whatever is in it. */
export function isReadFault(error: unknown): boolean {
  return error instanceof Error && /^IO Error: (Cannot open|Could not (open|read))/.test(error.message);
}

/** Another process has the database open. */
export class StoreBusy extends Error {
  override name = 'StoreBusy';
}
