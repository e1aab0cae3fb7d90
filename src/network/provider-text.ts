import { messageOf } from '../exit.js';
import { isObject } from '../input/json-object.js';
import { withoutCredentials } from './url-credentials.js';

/** How many characters of a provider's message are kept: its end, which has a program's actual error. */
const SAID_CHARACTERS = 2000;
/** Shorter values are ordinary words rather than secrets. */
const SECRET_CHARACTERS = 8;

/**
 * Makes another server's message safe to show, keep and log: keeps its end, and removes the secrets that this service sent there, which
 * the message can repeat, and credentials in addresses.
 */
export function providerText(said: string, secrets: readonly (string | undefined)[]): string {
  const masked = secrets
    .filter((secret): secret is string => secret !== undefined && secret.length >= SECRET_CHARACTERS)
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
    .reduce((text, secret) => text.replaceAll(secret, '***'), said);
  return withoutCredentials(masked.trim().slice(-SAID_CHARACTERS));
}

/** The member of an answer, or claim of a token, that a library refuses, with its value. */
function mismatchIn({
  attribute,
  body,
  claim,
  claims,
  expected,
}: Readonly<Record<string, unknown>>): string[] {
  const [name, given] = typeof claim === 'string' ? [claim, claims] : [attribute, body];
  if (typeof name !== 'string' || !isObject(given)) return [];
  const value = JSON.stringify(given[name]) ?? 'missing';
  return [`${name} is ${value}${expected === undefined ? '' : `, not ${JSON.stringify(expected)}`}`];
}

/** A library's messages for a failed request to a provider, with their causes. */
export function faultText(error: unknown, secrets: readonly (string | undefined)[]): string {
  const messages: string[] = [];
  for (let cause = error; cause instanceof Error && messages.length < 5; cause = cause.cause) {
    messages.push(cause.message);
    // OAuth's own name and description of an error (RFC 6749, 5.2).
    if ('error' in cause && typeof cause.error === 'string') messages.push(cause.error);
    if ('error_description' in cause) messages.push(String(cause.error_description));
    if (isObject(cause.cause)) messages.push(...mismatchIn(cause.cause));
  }
  return providerText(messages.length === 0 ? messageOf(error) : messages.join(': '), secrets);
}
