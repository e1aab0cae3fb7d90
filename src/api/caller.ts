import { z } from 'zod';
import { ApiError } from './errors.js';
import { Role } from './roles.js';

/** The sender of a request. */
export const Caller = z.strictObject({
  orgId: z.string(),
  role: Role,
  userId: z.string().nullable(),
  email: z.string().nullable(),
  /** Names the credential in logs and limits, for a key by its fingerprint. Never the credential itself. */
  credential: z.string(),
});
export type Caller = Readonly<z.infer<typeof Caller>>;

/** The name of a sender in lists of changes: the user, or the credential of none. */
export function authorOf({ userId, credential }: Caller): string {
  return userId ?? `key ${credential}`;
}

/** The user of a key. Throws 403 if it has none. */
export function ownUser(userId: string | null): string {
  if (userId !== null) return userId;
  throw new ApiError(
    403,
    'This key belongs to no user, so it has no rows of its own: create one with "daybook keys create --user".',
  );
}
