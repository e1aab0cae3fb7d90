import { z } from 'zod';
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
