import { isOfSystem } from '../disk/folder.js';
import { codeOf } from '../exit.js';

/** How long a file rests that the store has failed on. */
const RETRY_MS = 60_000;

/** Something in the inbox that can't be settled: it stays where it is, and everything else goes on. */
export interface SetAside {
  /** A path, or the address of an object in a bucket. */
  readonly path: string;
  /** Why, as a clause: "it can't be read (EACCES)". */
  readonly reason: string;
  /** Of an object in a bucket. */
  readonly object?: {
    readonly text: () => Promise<string | undefined>;
    readonly remove: () => Promise<void>;
  };
}

/** Why something that isn't a body is set aside. */
export const FOREIGN = 'Daybook did not put it there';

/** Why a body is set aside that is not as it was written. */
export const DAMAGED = 'it is damaged: its bytes are not those that were acknowledged';

/** Why something is set aside that the system doesn't let us read. */
export function unreadable(error: unknown): string {
  return `it can't be read (${codeOf(error)})`;
}

/** The kind of an error of the database or the system. The rest of its message may quote words of people. */
export function kindOf(error: unknown): string {
  if (isOfSystem(error)) return codeOf(error);
  return /^[A-Z][\w ]* Error(?=:)/.exec(error instanceof Error ? error.message : '')?.[0] ?? 'an error';
}

/** The files that are set aside in an inbox. Each search through the inbox finds them anew, and reports the new ones. */
export class AsideList {
  private known = new Map<string, SetAside>();
  private found = new Map<string, SetAside>();
  private readonly failures = new Map<string, { readonly at: number; readonly reason: string }>();

  constructor(private readonly clock: () => number) {}

  get entries(): readonly SetAside[] {
    return [...this.known.values()];
  }

  /** Begins a search. */
  begin(): void {
    this.found = new Map();
  }

  put(path: string, reason: string): void {
    this.found.set(path, { path, reason });
  }

  /** Sets a file aside that the store failed on. */
  fail(path: string, error: unknown): void {
    this.rest(path, `the store can't settle it (${kindOf(error)})`);
  }

  /** Sets something aside until it is tried again. */
  rest(path: string, reason: string): void {
    this.failures.set(path, { at: this.clock(), reason });
    this.put(path, reason);
  }

  /** Whether the store failed on a file just now: it is set aside until it is tried again. */
  isResting(path: string): boolean {
    const failure = this.failures.get(path);
    if (failure === undefined || Math.abs(this.clock() - failure.at) >= RETRY_MS) return false;
    this.put(path, failure.reason);
    return true;
  }

  /** Ends a search, and reports the files that the last one didn't find. */
  end(report: (entry: SetAside) => void): void {
    for (const entry of this.found.values())
      if (this.known.get(entry.path)?.reason !== entry.reason) report(entry);
    this.known = this.found;
    for (const path of this.failures.keys()) if (!this.found.has(path)) this.failures.delete(path);
  }
}
