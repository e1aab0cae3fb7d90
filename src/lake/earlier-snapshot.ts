import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MS_PER_DAY } from '../day.js';
import { UsageError } from '../exit.js';
import { folderOf, type LakeTable, OF_PEOPLE } from './lake-paths.js';
import { namesIn, Published, readJson, type Snapshot } from './snapshot.js';

/** The folder of the snapshots that were replaced, in an organization's folder. */
export const EARLIER = '_snapshots';
/** The file with the instant at which a backup was restored, in the lake's folder. */
export const RESTORED_AT = '_restored_at';

/** How long replaced files are kept. */
interface Keeping {
  readonly lakeKeepDays: number;
}

/** Whether the lake can answer what was published at an instant. Both are Unix milliseconds. */
export function isKept(asOf: number, { lakeKeepDays }: Keeping, now: number): boolean {
  return asOf <= now && asOf >= now - lakeKeepDays * MS_PER_DAY;
}

/** Throws a UsageError for an instant that the lake can't answer. */
export function requireKept(asOf: number, keeping: Keeping, now: number): void {
  if (!isKept(asOf, keeping, now))
    throw new UsageError(
      `--as-of must be in the last ${keeping.lakeKeepDays} days, for which replaced rows are kept, and not in the future: DAYBOOK_LAKE_KEEP_DAYS changes that.`,
    );
}

/** The path of the snapshot of an earlier instant, in an organization's folder. */
export function earlierPath(publishedAt: number): string {
  return join(EARLIER, `${publishedAt}.json`);
}

/** An earlier snapshot as a text. The people of then are kept nowhere. */
export function earlierText(snapshot: Snapshot): string {
  const earlier = Published.parse(snapshot);
  for (const table of OF_PEOPLE) delete earlier.tables[table];
  return JSON.stringify(earlier);
}

/** The instants of an organization's earlier snapshots, the oldest first. */
export function earlierInstants(lake: string, orgId: string): number[] {
  return instantsIn(namesIn(join(lake, folderOf(orgId), EARLIER)).map((name) => join(EARLIER, name)));
}

/** The instants of the earlier snapshots among names in an organization's folder, the oldest first. */
export function instantsIn(names: readonly string[]): number[] {
  return names
    .flatMap((name) => /^_snapshots[\\/](\d+)\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/**
 * The snapshot of an organization at an instant (Unix milliseconds); undefined if the lake doesn't have it. `erased_at` is that of the current
 * snapshot, because a table can't be read any more if rows were removed from it since then. The people are those of the current one.
 */
export function snapshotAt(
  lake: string,
  current: Snapshot,
  asOf = Number.POSITIVE_INFINITY,
): Published | undefined {
  if (asOf >= current.published_at) return current;
  const at = earlierInstants(lake, current.org_id).findLast((instant) => instant <= asOf);
  if (at === undefined) return undefined;
  const earlier = readJson(join(lake, folderOf(current.org_id), earlierPath(at)), Published);
  for (const [table, state] of Object.entries(earlier?.tables ?? {}))
    state.erased_at = current.tables[table as LakeTable]?.erased_at ?? 0;
  for (const table of earlier === undefined ? [] : OF_PEOPLE) {
    const state = current.tables[table];
    if (state !== undefined && earlier !== undefined) earlier.tables[table] = { ...state, erased_at: 0 };
  }
  return earlier;
}

/** A sentence without its full stop that says why the lake has no snapshot of an instant, and which instants can be asked for. */
export function whyMissing(
  lake: string,
  { org_id, published_at }: Snapshot,
  asOf = Number.POSITIVE_INFINITY,
): string {
  const textOf = (at: number) => new Date(at).toISOString();
  const first = textOf(earlierInstants(lake, org_id)[0] ?? published_at);
  const path = join(lake, RESTORED_AT);
  const restored = existsSync(path) ? Date.parse(readFileSync(path, 'utf8')) : 0;
  return asOf < restored
    ? `What was published before ${textOf(restored)} is gone, because a backup was restored then: ask for ${first} or later`
    : `Nothing that was published before ${first} is in the lake: ask for that instant or a later one`;
}
