import { ClickHouseError } from '@clickhouse/client';
import { codeOf, messageOf } from '../../exit.js';
import { certificateFaultOf } from '../../network/certificate.js';
import { CONNECTION_ERRORS } from '../../network/unreachable.js';
import { StoreUnavailable } from '../store-fault.js';
import { NotAnswering } from './server-watch.js';

/** The statuses with which a proxy says that it doesn't reach the server. */
export const PROXY_ERRORS = new Set([502, 503, 504]);

/** The server's codes of errors that pass. */
const PASSING_ERRORS = new Set([
  'NOT_ENOUGH_SPACE',
  'TABLE_IS_READ_ONLY',
  'TOO_MANY_PARTS',
  'TOO_MANY_SIMULTANEOUS_QUERIES',
  // A replica is away, or Keeper.
  'KEEPER_EXCEPTION',
  'TIMEOUT_EXCEEDED',
  'TOO_FEW_LIVE_REPLICAS',
  'UNFINISHED',
  'UNKNOWN_STATUS_OF_INSERT',
]);

/** A proxy answers in the server's place, with this status. */
export class NotFromServer extends Error {
  constructor(status: number) {
    super(`a proxy answers ${status}`);
  }
}

/** Why a statement didn't reach the server, or its answer didn't come back; undefined for another error. */
export function connectionFaultOf(error: unknown): string | undefined {
  const code = codeOf(error);
  if (CONNECTION_ERRORS.has(code) || code === 'ERR_STREAM_PREMATURE_CLOSE') return code;
  if (error instanceof NotFromServer || error instanceof NotAnswering) return error.message;
  return /^(Timeout error|socket hang up)/.exec(messageOf(error))?.[0];
}

/** Whether the server refuses a statement because its user has no grant for it. */
export function isDenied(error: unknown): boolean {
  return error instanceof ClickHouseError && error.type === 'ACCESS_DENIED';
}

/** The error for the caller: StoreUnavailable if it passes. It names the server if `url` is given. */
export function toCaller(error: unknown, url?: string): unknown {
  const unavailable = (reason: string) => {
    const server = url === undefined ? 'server' : `server ${url}`;
    return new StoreUnavailable(`The ClickHouse ${server} ${reason}.`, { cause: error });
  };
  const certificate = certificateFaultOf(error);
  if (certificate !== undefined) return unavailable(`can't be reached, because ${certificate}`);
  const fault = connectionFaultOf(error);
  if (fault !== undefined)
    return unavailable(`can't be reached (${fault}): start it, or correct DAYBOOK_STORE, and try again`);
  if (error instanceof ClickHouseError && PASSING_ERRORS.has(error.type ?? ''))
    return unavailable(`can't do this now (${error.type}): look at its log, and try again later`);
  return error;
}
