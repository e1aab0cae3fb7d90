import { ORG_ID } from '../input/name-text.js';

/** A body that was acknowledged. */
export interface Body {
  readonly requestId: string;
  readonly orgId: string;
  /** Its events were judged by this instant when it was acknowledged, and are when it is settled. Unix milliseconds. */
  readonly receivedAt: number;
  /** The digest of its bytes: see digestOfBody. */
  readonly digest: string;
}

/** The digest of a body, of the SHA-256 of its bytes. */
export function digestOfBody(sha256: string): string {
  return sha256.slice(0, 16);
}

/** The name of a body's file. It holds all facts about the body, which are on disk as soon as the body is. */
export function nameOf({ requestId, receivedAt, orgId, digest }: Body): string {
  return `${requestId}.${receivedAt}.${orgId}.${digest}.body`;
}

/** The facts in the name of a body's file; undefined for a file that Daybook has not written. */
export function bodyOf(name: string): Body | undefined {
  const [, requestId = '', receivedAt, orgId = '', digest = ''] =
    /^(\w+)\.(\d{1,15})\.(.+)\.([0-9a-f]{16})\.body$/.exec(name) ?? [];
  return ORG_ID.test(orgId) ? { requestId, orgId, receivedAt: Number(receivedAt), digest } : undefined;
}
