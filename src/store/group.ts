import { hash } from 'node:crypto';

/** How many groups the organizations are in: each group is settled and built by one node at a time. */
export const GROUPS = 16;

/** All groups, in the order in which whoever needs several takes their leases. */
export const ALL_GROUPS: readonly number[] = Array.from({ length: GROUPS }, (_, group) => group);

/**
 * The group of an organization, from 0: the first hexadecimal digit of the SHA-256 of its id, so that SQL can compute it too. It must never
 * change, because numbers of batches and names of objects have it in them.
 */
export function groupOf(orgId: string): number {
  return Number.parseInt(hash('sha256', orgId).charAt(0), GROUPS);
}

/** The group that took a number of a batch or build, which has it in it: it is GROUPS times a counter, plus the group. */
export function groupOfNumber(number: number): number {
  return number % GROUPS;
}
