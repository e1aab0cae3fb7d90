import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Checked } from './acknowledged.js';
import { type Body, bodyOf, digestOfBody, nameOf } from './body-name.js';

/** The first line of an object. */
const FORMAT = 'daybook inbox 1';
/** How long the index of an object can be: about 200 bytes for each body. */
const INDEX_BYTES = 1 << 20;

/** A body in an object, and its size in bytes. */
export interface Indexed {
  readonly body: Body;
  readonly bytes: number;
}

/** The object is not as Daybook writes them. */
export class NotBodies extends Error {
  override name = 'NotBodies';
}

/**
 * An object with some bodies: a line with the format, a line for each body with its size and name, an empty line, and the bodies. The name of a
 * body has its digest.
 */
export function bodiesOf(files: readonly Checked[]): {
  readonly bytes: number;
  readonly pieces: () => AsyncGenerator<Buffer, void, undefined>;
} {
  const lines = files.map(({ body, bytes }) => `${bytes} ${nameOf(body)}\n`);
  const head = Buffer.from(`${FORMAT}\n${lines.join('')}\n`);
  return {
    bytes: files.reduce((sum, { bytes }) => sum + bytes, head.length),
    async *pieces() {
      // Small bodies together, since each piece is one for the network.
      let together: Buffer[] = [head];
      for (const { path, held } of files) {
        if (held !== undefined) together.push(held);
        else {
          if (together.length > 0) yield Buffer.concat(together);
          together = [];
          yield* createReadStream(path) as AsyncIterable<Buffer>;
        }
      }
      if (together.length > 0) yield Buffer.concat(together);
    },
  };
}

/**
 * Reads the bodies of an object, in their order: writes each to the path that `pathOf` answers for it, unless that is undefined. Answers all of
 * them, and whether those that were written are whole. Throws NotBodies.
 */
export async function readBodies(
  pieces: AsyncIterable<Uint8Array>,
  pathOf: (number: number, body: Indexed) => string | undefined,
): Promise<{ readonly index: readonly Indexed[]; readonly damaged: ReadonlySet<number> }> {
  const input = new Input(pieces);
  const index = indexIn(await input.head());
  const damaged = new Set<number>();
  for (const [number, one] of index.entries()) {
    const path = pathOf(number, one);
    const own = input.next(one.bytes);
    if (path === undefined) for await (const _ of own);
    else if (!(await writeBody(own, one.body, path))) damaged.add(number);
  }
  return { index, damaged };
}

/** Writes the bytes of a body to a file, and answers whether they are those that were acknowledged. */
export async function writeBody(
  pieces: AsyncIterable<Uint8Array>,
  { digest }: Body,
  path: string,
): Promise<boolean> {
  const file = await open(path, 'w', 0o600);
  const hash = createHash('sha256');
  try {
    for await (const piece of pieces) {
      hash.update(piece);
      await file.writeFile(piece);
    }
  } finally {
    await file.close();
  }
  return digestOfBody(hash.digest('hex')) === digest;
}

function indexIn(head: string): Indexed[] {
  const [format, ...lines] = head.split('\n');
  if (format !== FORMAT) throw new NotBodies();
  return lines.map((line) => {
    const [, bytes, name = ''] = /^(\d{1,10}) (.+)$/.exec(line) ?? [];
    const body = bodyOf(name);
    if (body === undefined) throw new NotBodies();
    return { body, bytes: Number(bytes) };
  });
}

/** Reads pieces as a text up to an empty line, and then so many bytes at a time. */
class Input {
  private readonly pieces: AsyncIterator<Uint8Array>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.pieces = pieces[Symbol.asyncIterator]();
  }

  private async more(): Promise<Buffer> {
    const { value, done } = await this.pieces.next();
    if (done === true) throw new NotBodies();
    return Buffer.from(value);
  }

  async head(): Promise<string> {
    for (;;) {
      const end = this.rest.indexOf('\n\n');
      if (end >= 0) {
        const head = this.rest.subarray(0, end).toString();
        this.rest = this.rest.subarray(end + 2);
        return head;
      }
      if (this.rest.length > INDEX_BYTES) throw new NotBodies();
      this.rest = Buffer.concat([this.rest, await this.more()]);
    }
  }

  async *next(bytes: number): AsyncGenerator<Buffer, void, undefined> {
    for (let left = bytes; left > 0; ) {
      const piece = this.rest.length > 0 ? this.rest : await this.more();
      const own = piece.subarray(0, left);
      this.rest = piece.subarray(own.length);
      left -= own.length;
      yield own;
    }
  }
}
