import { messageOf } from '../exit.js';
import { withoutCredentials } from './url-credentials.js';

/** How much of what a provider says is kept: its end, which names the error of a program. */
const SAID_CHARACTERS = 2000;
/** Shorter values are words that stand everywhere, rather than secrets. */
const SECRET_CHARACTERS = 8;

/**
 * What another server says, as it may be shown, kept and logged: its end, without the secrets that this service sends there, which it
 * can repeat, and without those of addresses.
 */
export function providerText(said: string, secrets: readonly (string | undefined)[]): string {
  const masked = secrets
    .filter((secret): secret is string => secret !== undefined && secret.length >= SECRET_CHARACTERS)
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
    .reduce((text, secret) => text.replaceAll(secret, '***'), said);
  return withoutCredentials(masked.trim().slice(-SAID_CHARACTERS));
}

/** What a library says of a failed request to a provider, and the reasons that it gives. */
export function faultText(error: unknown, secrets: readonly (string | undefined)[]): string {
  const messages: string[] = [];
  for (let cause = error; cause instanceof Error && messages.length < 5; cause = cause.cause) {
    messages.push(cause.message);
    // OAuth's own words for what is wrong (RFC 6749, 5.2).
    if ('error_description' in cause) messages.push(String(cause.error_description));
  }
  return providerText(messages.length === 0 ? messageOf(error) : messages.join(': '), secrets);
}
