import { organizationsIn, readSnapshot, type Snapshot } from '../../src/lake/snapshot.js';

/** What all organizations of a lake have published. */
export function snapshotsIn(lake: string): Snapshot[] {
  return organizationsIn(lake).flatMap((orgId) => readSnapshot(lake, orgId) ?? []);
}
