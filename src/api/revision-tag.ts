import { z } from 'zod';
import { UsageError } from '../exit.js';

/** The newest revision isn't the one that a change was made of. */
export class Stale extends UsageError {
  override name = 'Stale';

  constructor(newest: number) {
    super(`The newest revision is ${newest}, not the expected one: read it again.`);
  }

  /** The sentence for a request with If-Match. */
  get ofHeader(): string {
    return this.message.replace('the expected one', 'the one in If-Match');
  }
}

/** The ETag of a revision, without quotes. It includes the organization, so that it never matches another one's. */
export function tagOf(orgId: string, revision: number): string {
  return `${encodeURIComponent(orgId)}-${revision}`;
}

/** Whether an If-Match header names a revision: by its ETag, or by its number alone, with or without quotes. */
export function isExpectedBy(header: string | undefined, orgId: string): (revision: number) => boolean {
  if (header === undefined) return () => true;
  const tags = header.split(',').map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'));
  return (revision) => ['*', String(revision), tagOf(orgId, revision)].some((tag) => tags.includes(tag));
}

/** What the reference says of the routes of settings with revisions. */
export const REVISION_HEADERS = { etag: `"${tagOf('acme', 3)}"` };
export const REVISION_ERRORS = { 412: new Stale(3).ofHeader };

/** The header of a change that is made only of the newest revision. */
export const IfMatch = z.looseObject({
  'if-match': z
    .string()
    .optional()
    .meta({ description: 'the ETag of what you read, or its revision', examples: ['"3"'] }),
});

/** Throws if an If-Match header doesn't name the newest revision. The request is answered with 412 then. */
export function requireMatch(header: string | undefined, orgId: string, newest: number): void {
  if (!isExpectedBy(header, orgId)(newest)) throw new Stale(newest);
}
