import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { codeOf, messageOf, UsageError } from '../exit.js';
import { certificateFaultOf } from '../network/certificate.js';
import { type Answer, Outgoing } from '../network/outgoing.js';

/** How long the service may take to answer. It asks its OpenID provider. */
const ANSWER_MS = 60_000;

/** By how many seconds the interval grows if the service or its provider is asked too often (RFC 8628, 3.5). */
const SLOWER_S = 5;

/** How often in a row the service may fail to answer before the sign-in fails. */
const FAILURES = 5;

/** A sign-in that has begun. Times are seconds. */
const Begun = z.object({
  device_token: z.string().min(1),
  user_code: z.string().min(1).max(100),
  verification_uri: z.url({ protocol: /^https?$/ }),
  verification_uri_complete: z.url({ protocol: /^https?$/ }).nullable(),
  expires_in: z.number().positive(),
  interval: z.number().min(1).max(600),
});

const Waiting = z.object({ error: z.string() });
const Made = z.object({ key: z.string().min(1) });

export interface SignInOptions {
  /** The name of the key in the list of keys: that of this machine. */
  readonly name: string;
  readonly clock: () => number;
  readonly say: (text: string) => void;
  /** Pauses for some milliseconds. */
  readonly pause?: (ms: number) => Promise<unknown>;
}

/**
 * Signs the person in with a browser, on this machine or another one, and answers an API key of the person. Throws a UsageError if the service has
 * no such sign-in, or if the person isn't signed in in time.
 */
export async function signIn(
  server: string,
  { name, clock, say, pause = wait }: SignInOptions,
): Promise<string> {
  const outgoing = await Outgoing.to(server);
  const ask = (path: string, body: object) =>
    outgoing.send('POST', `/sign-in/device${path}`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  try {
    const answer = await ask('', { name }).catch((error: unknown) => {
      throw unreachable(server, error);
    });
    const begun = Begun.safeParse(answer.status === 201 ? answer.json : undefined);
    if (!begun.success) throw refused(server, answer);
    const { device_token, user_code, verification_uri, verification_uri_complete, expires_in, interval } =
      begun.data;
    say(
      [
        'Sign in with a browser, here or on another device:',
        `  ${verification_uri}`,
        `  code ${user_code}`,
        ...(verification_uri_complete === null
          ? []
          : ['Or with the code in the address:', `  ${verification_uri_complete}`]),
      ].join('\n'),
    );
    const until = clock() + expires_in * 1000;
    let seconds = interval;
    for (let failures = 0; clock() < until; ) {
      await pause(seconds * 1000);
      if (clock() >= until) break;
      let polled: Answer;
      try {
        polled = await ask('/key', { device_token });
      } catch (error) {
        failures += 1;
        if (failures < FAILURES) continue;
        throw unreachable(server, error);
      }
      const made = Made.safeParse(polled.status === 201 ? polled.json : undefined);
      if (made.success) return made.data.key;
      const waiting = Waiting.safeParse(polled.status === 202 ? polled.json : undefined);
      if (waiting.success) {
        failures = 0;
        if (waiting.data.error === 'slow_down') seconds += SLOWER_S;
      } else if ((polled.status === 429 || polled.status >= 500) && failures + 1 < FAILURES) failures += 1;
      else throw refused(server, polled);
    }
    throw new UsageError('Nobody signed in with this code in time: run the command again.');
  } finally {
    outgoing.close();
  }
}

function unreachable(server: string, error: unknown): UsageError {
  if (error instanceof UsageError) return error;
  const fault = certificateFaultOf(error);
  const reason = fault === undefined ? ` (${codeOf(error) || messageOf(error)})` : `, because ${fault}`;
  return new UsageError(`${server} can't be reached${reason}: start the service, or correct --server.`);
}

/** The error for an answer that refuses. An older service, or another program, has no such path. */
function refused(server: string, { status, detail }: Answer): UsageError {
  const isOlder = status === 404 && detail?.startsWith('There is no endpoint') === true;
  if (detail === undefined || isOlder)
    return new UsageError(
      `${server} has no sign-in by browser (${status}): correct --server, or ask for an API key and pass it with --key -.`,
    );
  return new UsageError(`${server} answers ${status}: ${detail}.`);
}
