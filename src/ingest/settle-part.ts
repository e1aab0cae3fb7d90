import { requireOrganizations } from '../store/organization.js';
import type { Store } from '../store/store.js';
import { isOfStore } from '../store/store-fault.js';
import type { Body } from './body-name.js';
import { CHECKED } from './source.js';

/** A body on its way into the store, as a file. */
export interface Entry extends Body {
  readonly path: string;
  readonly bytes: number;
  /** Its place in its batch, as a text without spaces: places are in the order of their characters. */
  readonly place: string;
}

/** What becomes of the files of a batch. */
interface Outcome {
  readonly settled: (file: Entry) => Promise<void>;
  /** The store can't settle this file, whatever it is settled with. */
  readonly failed: (file: Entry, error: unknown) => void | Promise<void>;
}

/**
 * Settles a part of a batch: files of which no other one is between the first and the last. When the store fails on it, it is
 * settled in halves, so that only the file that the store can't settle is set aside.
 */
export async function settlePart(
  store: Store,
  token: string,
  files: readonly Entry[],
  now: () => number,
  outcome: Outcome,
): Promise<void> {
  try {
    await requireOrganizations(store, new Set(files.map(({ orgId }) => orgId)), now());
    await store.settle({
      source: CHECKED,
      files: files.map((file) => ({ ...file, name: file.requestId })),
      settledAt: now(),
      token: partOf(token, files),
    });
  } catch (error) {
    if (isOfStore(error)) throw error;
    // The answer may have been lost after all of it was settled. When the store doesn't answer now, it wasn't the files.
    const isSettled = await settledOf(store, token).catch(() => {
      throw error;
    });
    if (!files.every(({ place }) => isSettled(place))) {
      if (files.length === 1) return outcome.failed(files[0] as Entry, error);
      const half = Math.ceil(files.length / 2);
      await settlePart(store, token, files.slice(0, half), now, outcome);
      return settlePart(store, token, files.slice(half), now, outcome);
    }
  }
  for (const file of files) await outcome.settled(file);
}

/** Names a part of a batch to the store, by the places of its first and last file. */
function partOf(token: string, files: readonly Entry[]): string {
  return `${token} ${files[0]?.place} ${files.at(-1)?.place}`;
}

/** Which files of a batch the store has, by their places: those of the parts that were settled, or all of them. */
export async function settledOf(store: Store, token: string): Promise<(place: string) => boolean> {
  const rows = await store.select('SELECT token FROM batches WHERE token >= $token AND token < $end', {
    token,
    // The character after a space.
    end: `${token}!`,
  });
  const parts = rows.map((row) =>
    String(row.token)
      .slice(token.length + 1)
      .split(' '),
  );
  return (place) =>
    parts.some(([first = '', last]) => last === undefined || (first <= place && place <= last));
}
