import { isUtf8 } from 'node:buffer';
import type { Sent, Verdict } from './check.js';
import { isTimely } from './event.js';
import { isAt } from './member.js';
import { Scanner } from './scanner.js';

/** Longer lines are not plain: they can have so many members that nobody knows that their values have to be counted. Bytes. */
const PLAIN_BYTES = 8 << 10;

const NEWLINE = 0x0a;

const scanner = new Scanner();

/**
 * Looks at the lines of a body while it comes, as long as all of them are as plain and sound as most are. What this takes the
 * rules of sql/ingest take too: it is stricter wherever the two could differ.
 */
export class PlainLines {
  private isPlain = true;
  private held: Buffer = Buffer.alloc(0);
  private accepted = 0;
  private ofOthers = 0;
  private readonly orgId: Buffer;
  private readonly onlyUser: Buffer | undefined;

  /** `receivedAt` is Unix milliseconds. */
  constructor(
    { orgId, onlyUser }: Pick<Sent, 'orgId' | 'onlyUser'>,
    private readonly receivedAt: number,
  ) {
    this.orgId = Buffer.from(orgId);
    this.onlyUser = onlyUser === null ? undefined : Buffer.from(onlyUser);
  }

  /** Looks at the next bytes, up to the end of their last line. */
  add(piece: Buffer): void {
    if (!this.isPlain) return;
    const bytes = this.held.length === 0 ? piece : Buffer.concat([this.held, piece]);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    this.held = bytes.subarray(end);
    this.isPlain = this.held.length <= PLAIN_BYTES && this.look(bytes.subarray(0, end));
  }

  /** The verdict on all of them, when no more come; undefined where the rules must judge. */
  end(): Verdict | undefined {
    const isPlain = this.isPlain && this.look(this.held);
    const { accepted, ofOthers } = this;
    return isPlain && accepted > 0 ? { accepted, rejected: 0, errors: [], ofOthers } : undefined;
  }

  /** Whether all of these lines are plain events that the sender may send. */
  private look(bytes: Buffer): boolean {
    if (!isUtf8(bytes)) return false;
    for (let start = 0; start < bytes.length; ) {
      const newline = bytes.indexOf(NEWLINE, start);
      const end = newline < 0 ? bytes.length : newline;
      if (end - start > PLAIN_BYTES || !scanner.isEvent(bytes, start, end)) return false;
      if (!isTimely(scanner.instant, this.receivedAt)) return false;
      const { orgId, userId } = scanner;
      if (orgId.start >= 0 && !isAt(this.orgId, bytes, orgId.start, orgId.end)) return false;
      this.accepted += 1;
      if (this.onlyUser !== undefined && !isAt(this.onlyUser, bytes, userId.start, userId.end))
        this.ofOthers += 1;
      start = end + 1;
    }
    return true;
  }
}
