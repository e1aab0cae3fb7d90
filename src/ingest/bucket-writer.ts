import type { Bucket, Limit } from '../objects/bucket.js';
import { ulid } from '../ulid.js';
import type { Checked } from './acknowledged.js';
import { bodiesOf } from './bucket-bodies.js';
import { type Ready, readyOf } from './bucket-names.js';

/** How much goes into one object: bytes, unless one body has more, and bodies. */
const OBJECT_BYTES = 16 << 20;
const OBJECT_BODIES = 1000;
/** An object that takes longer doesn't hold up those that came after it. */
const SLOW_MS = 100;
/** How many objects are written at once, at most. */
const AT_ONCE = 8;
/** How long a sender waits for an object, and how long one try can take; each MiB has as much more. Exporters of OpenTelemetry give up after ten seconds. */
const ALL_MS = 8000;
const EACH_MS = 3000;
const MIB_MS = 250;

/** The bucket didn't take the bodies in time. They may be there all the same. */
export class NotKept extends Error {
  override name = 'NotKept';
}

/** A body that waits for its acknowledgement. */
interface Pending {
  readonly file: Checked;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Writes bodies into a bucket: those that come while one object is written go into the next one together. */
export class BucketWriter {
  private pending: Pending[] = [];
  private writing = 0;
  /** The object under way that later bodies wait for: the last one, until it is slow. */
  private awaited: readonly Pending[] | undefined;

  constructor(
    private readonly bucket: Bucket,
    private readonly clock: () => number,
    /** Is told of each object that is there. */
    private readonly written: (object: Ready) => void,
  ) {}

  /** Returns once a body is in the bucket. Throws NotKept. */
  keep(file: Checked): Promise<void> {
    return new Promise((resolve, reject) => {
      this.pending.push({ file, resolve, reject });
      this.next();
    });
  }

  private next(): void {
    if (this.pending.length === 0 || this.writing >= AT_ONCE || this.awaited !== undefined) return;
    const group = this.take();
    this.writing += 1;
    this.awaited = group;
    const goOn = () => {
      if (this.awaited === group) this.awaited = undefined;
      this.next();
    };
    const slow = setTimeout(goOn, SLOW_MS);
    void this.write(group.map(({ file }) => file))
      .finally(() => {
        clearTimeout(slow);
        this.writing -= 1;
        goOn();
      })
      .then(
        () => {
          for (const { resolve } of group) resolve();
        },
        (error) => {
          for (const { reject } of group) reject(error);
        },
      );
  }

  /** The bodies of the next object. */
  private take(): Pending[] {
    let bytes = 0;
    const end = this.pending.findIndex(({ file }, place) => {
      bytes += file.bytes;
      return place > 0 && (bytes > OBJECT_BYTES || place === OBJECT_BODIES);
    });
    return this.pending.splice(0, end < 0 ? this.pending.length : end);
  }

  private async write(files: readonly Checked[]): Promise<void> {
    const content = bodiesOf(files);
    const object = readyOf(
      ulid(this.clock()),
      files.map(({ body, bytes }) => ({ orgId: body.orgId, bytes })),
      content.bytes,
    );
    try {
      await this.bucket.put(object.key, content, limitOf(content.bytes));
    } catch (cause) {
      throw new NotKept('the bucket of the inbox did not take the events', { cause });
    }
    this.written(object);
  }
}

function limitOf(bytes: number): Limit {
  const more = Math.ceil(bytes / 2 ** 20) * MIB_MS;
  return { allMs: ALL_MS + more, eachMs: EACH_MS + more };
}
