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
