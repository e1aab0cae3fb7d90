import { codeOf, messageOf, reasonOf, UsageError } from '../../exit.js';
import { certificateFaultOf } from '../../network/certificate.js';
import { CONNECTION_ERRORS } from '../../network/unreachable.js';
import { StoreUnavailable } from '../store-fault.js';

/** What the client says of a connection that broke, or that it didn't get in time. */
const CONNECTION_LOST =
  /^(Connection terminated|timeout exceeded|Query read timeout|Client has encountered|Client was closed|Client network socket disconnected)/;

/** PostgreSQL's classes of errors that pass: lost connections, too few resources, an operator's intervention, faults of the system. */
const PASSING_CLASSES = new Set(['08', '53', '57', '58']);

const PASSING: Readonly<Record<string, string>> = {
  '25006': "can't be written, because it is a standby or read-only: name the primary in DAYBOOK_STATE",
  '25P03': 'ended a transaction that waited for too long: try again',
  '55P03': 'was busy with the same rows for too long: try again',
  '57014': 'took too long: look at its load, and try again',
};

/** The codes with which PostgreSQL refuses a user or a database. */
const REFUSALS = new Set(['28000', '28P01', '3D000', '42501']);

/** Why a connection can't be used any more; undefined for another error. */
function connectionFaultOf(error: unknown): string | undefined {
  const code = codeOf(error);
  if (CONNECTION_ERRORS.has(code)) return code;
  return CONNECTION_LOST.exec(messageOf(error))?.[0];
}

/** Whether the state of the connection is unknown after an error: nothing came back, or the server ends it. */
export function isLost(error: unknown): boolean {
  return connectionFaultOf(error) !== undefined || /^(08|57P)/.test(codeOf(error));
}

/** Whether PostgreSQL undid a transaction for the sake of another, so that it succeeds when it is tried again. */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error));
}

/** Whether a row is there already that a unique key allows once. */
export function isTaken(error: unknown): boolean {
  return codeOf(error) === '23505';
}

/** The error for the caller: one that passes says so. Answers of the API have it, so it doesn't name the server. */
export function faultOf(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  const unavailable = (reason: string) =>
    new StoreUnavailable(`The PostgreSQL server ${reason}.`, { cause: error });
  const certificate = certificateFaultOf(error);
  if (certificate !== undefined) return unavailable(`can't be reached, because ${certificate}`);
  const fault = connectionFaultOf(error);
  if (fault !== undefined)
    return unavailable(`can't be reached (${fault}): start it, or correct DAYBOOK_STATE, and try again`);
  const code = codeOf(error);
  const passing = PASSING[code];
  if (passing !== undefined) return unavailable(passing);
  if (REFUSALS.has(code)) return unavailable(`refuses the user of DAYBOOK_STATE (${code})`);
  if (/^[0-9A-Z]{5}$/.test(code) && PASSING_CLASSES.has(code.slice(0, 2)))
    return unavailable(`can't do this now (${code}): look at its log, and try again later`);
  return error;
}

/** The same while the database is opened: what a setting has to be corrected for is a UsageError. */
export function openingFaultOf(error: unknown, server: string): unknown {
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  const isRefused = REFUSALS.has(codeOf(cause)) || /^SASL|SSL connections/.test(messageOf(cause));
  return isRefused
    ? new UsageError(
        `The PostgreSQL server ${server} can't be used (${reasonOf(cause)}): correct DAYBOOK_STATE.`,
      )
    : error;
}
