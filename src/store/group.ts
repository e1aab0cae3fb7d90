import { createHash } from 'node:crypto';

/** How many groups the organizations are in: each group is settled and built by one node at a time. */
export const GROUPS = 16;

/**
 * The group of an organization, from 0: the first hexadecimal digit of the SHA-256 of its id, so that SQL can compute it too. It must never
 * change, because numbers of batches and names of objects have it in them.
 */
export function groupOf(orgId: string): number {
  return Number.parseInt(createHash('sha256').update(orgId).digest('hex').charAt(0), GROUPS);
}
