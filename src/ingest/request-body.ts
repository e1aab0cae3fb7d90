import type { ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../api/caller.js';
import { ApiError } from '../api/errors.js';
import { may } from '../api/roles.js';
import type { ApiDeps } from '../api/route-family.js';
import { isOfSystem } from '../disk/folder.js';
import { namesOf } from '../store/state/person.js';
import type { Store } from '../store/store.js';
import { type Encoding, NotUnpacked, PACKED_BYTES, TooLarge, UNPACKED_BYTES } from './body.js';
import { BODY_LINES, Gone, TooManyLines } from './body-check.js';
import { NotAnArray } from './body-lines.js';
import { NotKept } from './bucket-writer.js';
import { type Inbox, InboxFull } from './inbox.js';

const Encodings = z.enum(['identity', 'gzip']);

const MIB = 2 ** 20;
export const TOO_LARGE = `A body must have at most ${PACKED_BYTES / MIB} MiB as sent and ${UNPACKED_BYTES / MIB} MiB unpacked: send it in parts.`;
const TOO_MANY = `A body must have at most ${BODY_LINES} lines, or elements of an array: send it in parts.`;
export const NO_ARRAY =
  'The body must be a JSON array of events: to send one event per line, use application/x-ndjson.';
export const FULL =
  "The service can't keep more waiting events: none of these were accepted, so send them again later.";

export const NOT_KEPT =
  "The service can't keep events now: send them again later, since each counts once however often it is sent.";

/** Nobody hears it, since the sender is gone. */
export const CUT_OFF = 'The body ended in the middle.';

/** How a body is packed, by its Content-Encoding. Throws 415. */
export function encodingOf(header: string | undefined): Encoding {
  const parsed = Encodings.safeParse(header?.trim().toLowerCase() ?? 'identity');
  if (!parsed.success) throw new ApiError(415, `The Content-Encoding ${parsed.error.issues[0]?.message}.`);
  return parsed.data;
}

/** The dependencies of routes that take events. */
export interface InboxDeps extends ApiDeps {
  readonly inbox: Inbox;
}

/** The names of the only user whose events a caller may send, the user id first; null for any user. Throws a 403 where there is none. */
export async function onlyUsersOf(store: Store, caller: Caller): Promise<readonly string[] | null> {
  const only = onlyUserOf(caller);
  return only === null ? null : namesOf(store, caller.orgId, only);
}

/** The user whose events alone a caller may send; null for any. Throws a 403 where there is none. */
export function onlyUserOf({ role, userId }: Caller): string | null {
  if (may(role, 'send events of other users')) return null;
  if (userId !== null) return userId;
  throw new ApiError(
    403,
    'This key belongs to no user, but may send only events of its own user: create one with --user.',
  );
}

/** Aborted when a client goes away before its answer. */
export function goneOf({ raw }: { raw: ServerResponse }): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  return gone.signal;
}

/** The error for the sender of a body that the inbox refused; other errors are returned as they are. The log gets the error of a disk. */
export function refusalOfBody(error: unknown, log: FastifyBaseLogger): unknown {
  if (error instanceof TooLarge) return new ApiError(413, TOO_LARGE);
  if (error instanceof TooManyLines) return new ApiError(413, TOO_MANY);
  if (error instanceof NotUnpacked)
    return new ApiError(400, 'The body is not compressed as its Content-Encoding says.');
  if (error instanceof NotAnArray) return new ApiError(400, NO_ARRAY);
  if (error instanceof Gone) return new ApiError(400, CUT_OFF);
  if (error instanceof NotKept) {
    log.error({ err: error.cause }, 'the events of the request could not be kept');
    return new ApiError(503, NOT_KEPT);
  }
  if (isOfSystem(error)) log.error({ err: error }, 'the events of the request could not be kept');
  return error instanceof InboxFull || isOfSystem(error) ? new ApiError(503, FULL) : error;
}
