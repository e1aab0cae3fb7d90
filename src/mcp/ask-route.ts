import type { FastifyInstance } from 'fastify';
import type { Caller } from '../api/caller.js';
import { trustedCaller } from '../api/trusted-caller.js';
import type { Seen } from '../lake/snapshot.js';
import { readBeginning } from '../network/outgoing.js';
import { seenIn } from '../sql/seen-headers.js';

/** A request for a route. */
export interface Asked {
  readonly method: 'GET' | 'POST';
  /** With the query. */
  readonly path: string;
  readonly body?: object | undefined;
  /** The media type of the answer. */
  readonly accept: string;
  /** How many bytes of the answer are read. */
  readonly bytes: number;
}

/** An answer of a route. */
export interface Told {
  readonly status: number;
  readonly text: string;
  /** Whether `text` is the whole answer; otherwise it is the beginning, and can end within a character. */
  readonly isWhole: boolean;
  /** The snapshot that the answer is from, if it says so. */
  readonly seen: Seen | undefined;
}

/** Calls a route. Rejects if the answer breaks off, or once the signal aborts. */
export type AskRoute = (asked: Asked, signal: AbortSignal) => Promise<Told>;

/** Calls routes in this process for an authenticated caller, whose request came from an address. */
export function askOwn(app: Pick<FastifyInstance, 'inject'>, caller: Caller, address?: string): AskRoute {
  return async ({ method, path, body, accept, bytes }, signal) => {
    const read = new AbortController();
    const left = AbortSignal.any([signal, read.signal]);
    const request = {
      method,
      url: path,
      headers: { host: 'localhost', accept },
      ...(body === undefined ? {} : { payload: body }),
      ...(address === undefined ? {} : { remoteAddress: address }),
      payloadAsStream: true,
    } as const;
    // TRICKY: the request begins when it is awaited, which must happen inside run.
    const answer = await trustedCaller.run({ caller, left }, async () => await app.inject(request));
    try {
      const beginning = await readBeginning(answer.stream(), bytes);
      return { status: answer.statusCode, seen: seenIn(answer.headers), ...beginning };
    } finally {
      // The rest of the answer isn't read.
      read.abort();
    }
  };
}
