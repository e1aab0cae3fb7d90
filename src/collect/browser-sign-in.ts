import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { UsageError } from '../exit.js';
import { type Answer, Outgoing } from '../network/outgoing.js';
import { whyUnreachable } from '../network/unreachable.js';

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

/** Asks the service for something about a sign-in. */
type Ask = (path: string, body: object) => Promise<Answer>;

/**
 * Signs the person in with a browser, on this machine or another one, and answers an API key of the person. Throws a UsageError if the
 * service has no such sign-in, or if the person isn't signed in in time.
 */
export async function signIn(server: string, options: SignInOptions): Promise<string> {
  const outgoing = await Outgoing.to(server);
  const ask: Ask = (path, body) =>
    outgoing.send('POST', `/sign-in/device${path}`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  try {
    const answer = await ask('', { name: options.name }).catch((error: unknown) => {
      throw unreachable(server, error);
    });
    const begun = Begun.safeParse(answer.status === 201 ? answer.json : undefined);
    if (!begun.success) throw refused(server, answer);
    options.say(wordsOf(begun.data));
    return await awaitKey(server, ask, begun.data, options);
  } finally {
    outgoing.close();
  }
}

/** Where the person signs in, and with which code. */
function wordsOf({ verification_uri, verification_uri_complete, user_code }: z.infer<typeof Begun>): string {
  const complete =
    verification_uri_complete === null
      ? []
      : ['Or with the code in the address:', `  ${verification_uri_complete}`];
  return [
    'Sign in with a browser, here or on another device:',
    `  ${verification_uri}`,
    `  code ${user_code}`,
    ...complete,
  ].join('\n');
}

/** Asks for the key until the person has signed in. */
async function awaitKey(
  server: string,
  ask: Ask,
  { device_token, expires_in, interval }: z.infer<typeof Begun>,
  { clock, pause = wait }: SignInOptions,
): Promise<string> {
  const until = clock() + expires_in * 1000;
  let [seconds, failures] = [interval, 0];
  for (;;) {
    await pause(seconds * 1000);
    if (clock() >= until)
      throw new UsageError('Nobody signed in with this code in time: run the command again.');
    let answer: Answer;
    try {
      answer = await ask('/key', { device_token });
    } catch (error) {
      failures += 1;
      if (failures < FAILURES) continue;
      throw unreachable(server, error);
    }
    const made = Made.safeParse(answer.status === 201 ? answer.json : undefined);
    if (made.success) return made.data.key;
    const waiting = Waiting.safeParse(answer.status === 202 ? answer.json : undefined);
    failures = waiting.success ? 0 : failures + 1;
    if (waiting.success) seconds += waiting.data.error === 'slow_down' ? SLOWER_S : 0;
    else if ((answer.status !== 429 && answer.status < 500) || failures >= FAILURES)
      throw refused(server, answer);
  }
}

function unreachable(server: string, error: unknown): UsageError {
  if (error instanceof UsageError) return error;
  return new UsageError(
    `${server} can't be reached${whyUnreachable(error)}: start the service, or correct --server.`,
  );
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
