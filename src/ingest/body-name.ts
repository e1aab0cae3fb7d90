import { ORG_ID } from '../store/organization.js';
import { instantOf } from '../ulid.js';

/** A body that was acknowledged. */
export interface Body {
  readonly requestId: string;
  readonly orgId: string;
  /** Its events were judged by this instant when it was acknowledged, and are when it is settled. Unix milliseconds. */
  readonly receivedAt: number;
  /** Whether its lines were checked before they were written. Earlier versions kept them as they were sent. */
  readonly isChecked: boolean;
  /** What its bytes must have for a digest: see digestOfBody. Unknown of what earlier versions kept. */
  readonly digest?: string | undefined;
}

/** The digest of a body, of the SHA-256 of its bytes. */
export function digestOfBody(sha256: string): string {
  return sha256.slice(0, 16);
}

/** The name of a body's file: what is known of it is on disk at the same moment as the acknowledgement. */
export function nameOf({ requestId, receivedAt, orgId, isChecked, digest }: Body): string {
  const kind = digest === undefined ? (isChecked ? 'checked' : 'ndjson') : `${digest}.body`;
  return `${requestId}.${receivedAt}.${orgId}.${kind}`;
}

/** What the name of a file says of the body in it; undefined for a file that Daybook has not written. */
export function bodyOf(name: string): Body | undefined {
  const [, requestId = '', receivedAt, orgId = '', kind, digest] =
    /^(\w+)\.(\d{1,15})\.(.+)\.(checked|ndjson|([0-9a-f]{16})\.body)$/.exec(name) ?? [];
  return ORG_ID.test(orgId)
    ? { requestId, orgId, receivedAt: Number(receivedAt), isChecked: kind !== 'ndjson', digest }
    : undefined;
}

/**
 * The same for the names that Daybook gave when a folder for each organization held its bodies. Bodies of that time can still
 * wait after an upgrade or a restore; their request ids are ULIDs, which tell when they came.
 */
export function oldBodyOf(name: string, orgId: string): Body | undefined {
  const [, requestId = '', ulid = ''] = /^(req_([0-9A-HJKMNP-TV-Z]{26}))\.ndjson$/.exec(name) ?? [];
  return ulid !== '' && ORG_ID.test(orgId)
    ? { requestId, orgId, receivedAt: instantOf(ulid), isChecked: false }
    : undefined;
}
