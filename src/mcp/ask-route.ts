import type { FastifyInstance } from 'fastify';
import type { Caller } from '../api/caller.js';
import { trustedCaller } from '../api/trusted-caller.js';
import type { Seen } from '../lake/snapshot.js';
import { readBeginning } from '../network/outgoing.js';
import { seenIn } from '../sql/seen-headers.js';

/** A request of a route. */
export interface Asked {
  readonly method: 'GET' | 'POST';
  /** With the query. */
  readonly path: string;
  readonly body?: object | undefined;
  /** The media type of the answer. */
  readonly accept: string;
  /** How much of the answer is read. */
  readonly bytes: number;
}

/** An answer of a route. */
export interface Told {
  readonly status: number;
  readonly text: string;
  /** Whether `text` is all of it; else it is its beginning, and may end within a character. */
  readonly isWhole: boolean;
  /** The snapshot that it is from, if it says so. */
  readonly seen: Seen | undefined;
}

/** Asks a route. Rejected if the answer breaks off, or once the signal aborts. */
export type AskRoute = (asked: Asked, signal: AbortSignal) => Promise<Told>;

/** Asks the routes of this process for somebody who was let in. */
export function askOwn(app: Pick<FastifyInstance, 'inject'>, caller: Caller): AskRoute {
  return async ({ method, path, body, accept, bytes }, signal) => {
    const read = new AbortController();
    const left = AbortSignal.any([signal, read.signal]);
    const request = {
      method,
      url: path,
      headers: { host: 'localhost', accept },
      ...(body === undefined ? {} : { payload: body }),
      payloadAsStream: true,
    } as const;
    // TRICKY: it begins when it is awaited, which must be in here.
    const answer = await trustedCaller.run({ caller, left }, async () => await app.inject(request));
    try {
      const beginning = await readBeginning(answer.stream(), bytes);
      return { status: answer.statusCode, seen: seenIn(answer.headers), ...beginning };
    } finally {
      // Nobody reads the rest.
      read.abort();
    }
  };
}
