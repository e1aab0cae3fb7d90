import { codeOf, messageOf } from '../exit.js';
import { certificateFaultOf } from './certificate.js';

/** The codes of connections that are refused, lost or timed out, of the system and of Node. */
export const CONNECTION_ERRORS = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Whether a server spoke, but not TLS. */
export function isNoTls(error: unknown): boolean {
  return codeOf(error) === 'EPROTO';
}

/** The end of a sentence about a server that can't be reached, which says why. */
export function whyUnreachable(error: unknown): string {
  const fault = certificateFaultOf(error);
  if (fault !== undefined) return `, because ${fault}`;
  return isNoTls(error)
    ? ' (EPROTO: it may want http:// instead of https://)'
    : ` (${codeOf(error) || messageOf(error)})`;
}
