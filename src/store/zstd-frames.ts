import { streamForeign } from '../disk/foreign-file.js';

/** A frame that needs a larger window is not unpacked: DuckDB and the zstd command have this limit too. Bytes. */
const WINDOW_BYTES = 128 << 20;
/** No block of any frame unpacks to more (RFC 8878, 3.1.1.2.4). */
export const BLOCK_BYTES = 128 << 10;

const MAGIC = 0xfd2fb528;
/** The last four bits of the magic number of a frame that holds no data are anything. */
const SKIPPABLE_MAGIC = 0x184d2a50;
const [RLE_BLOCK, RESERVED_BLOCK] = [1, 3];

/** A file is no whole sequence of frames, or one of them needs a dictionary, or more memory than it may. */
export class DamagedFrame extends Error {
  override name = 'DamagedFrame';
}

/** A part of a frame: its header, a block, or its checksum. */
export interface FramePart {
  readonly bytes: Buffer;
  /** Whether a frame begins with it. */
  readonly isFirst: boolean;
  /** Whether a frame ends with it. */
  readonly isLast: boolean;
}

/** The bytes of a file in portions of any size. */
class Portions {
  private held: Buffer = Buffer.alloc(0);
  private readonly chunks: AsyncIterator<Buffer>;

  constructor(path: string) {
    this.chunks = streamForeign(path)[Symbol.asyncIterator]();
  }

  /** The next bytes. Throws DamagedFrame when there are fewer. */
  async take(length: number): Promise<Buffer> {
    if (!(await this.has(length))) throw new DamagedFrame();
    const bytes = this.held.subarray(0, length);
    this.held = this.held.subarray(length);
    return bytes;
  }

  async skip(length: number): Promise<void> {
    for (let left = length; left > 0; ) {
      if (!(await this.has(1))) throw new DamagedFrame();
      left -= (await this.take(Math.min(left, this.held.length))).length;
    }
  }

  async has(length: number): Promise<boolean> {
    while (this.held.length < length) {
      const { value, done } = await this.chunks.next();
      if (done === true) return false;
      this.held = this.held.length === 0 ? value : Buffer.concat([this.held, value]);
    }
    return true;
  }

  async close(): Promise<void> {
    await this.chunks.return?.();
  }
}

/** The header of a frame, after its magic number. Throws DamagedFrame when the frame needs too much memory or a dictionary. */
async function headerOf(portions: Portions): Promise<{ bytes: Buffer; hasChecksum: boolean }> {
  const [descriptor = 0] = await portions.take(1);
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? (isSingle ? 1 : 0) : 1 << sizeFlag;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] as number;
  const rest = await portions.take((isSingle ? 0 : 1) + dictionaryBytes + sizeBytes);
  const dictionary = rest.subarray(isSingle ? 0 : 1).subarray(0, dictionaryBytes);
  if (dictionary.some((byte) => byte !== 0)) throw new DamagedFrame();
  let window = 0;
  if (isSingle) {
    // The whole content is the window.
    for (let at = 1; at <= sizeBytes; at += 1) window = window * 256 + (rest.at(-at) as number);
    if (sizeFlag === 1) window += 256;
  } else {
    const [byte = 0] = rest;
    const base = 2 ** (10 + (byte >> 3));
    window = base + (base / 8) * (byte & 7);
  }
  if (window > WINDOW_BYTES) throw new DamagedFrame();
  return { bytes: Buffer.concat([Buffer.from([descriptor]), rest]), hasChecksum: (descriptor & 4) !== 0 };
}

/**
 * The parts of the frames of a zstd file, in their order, without unpacking anything (RFC 8878). Throws DamagedFrame where the
 * file ends in the middle of a frame, is no frame, or has one that needs too much memory or a dictionary.
 */
export async function* zstdParts(path: string): AsyncGenerator<FramePart> {
  const portions = new Portions(path);
  try {
    while (await portions.has(1)) {
      const magic = await portions.take(4);
      const number = magic.readUInt32LE();
      if ((number & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) {
        await portions.skip((await portions.take(4)).readUInt32LE());
        continue;
      }
      if (number !== MAGIC) throw new DamagedFrame();
      const { bytes, hasChecksum } = await headerOf(portions);
      yield { bytes: Buffer.concat([magic, bytes]), isFirst: true, isLast: false };
      for (let isLast = false; !isLast; ) {
        const head = await portions.take(3);
        const value = head.readUIntLE(0, 3);
        isLast = (value & 1) === 1;
        const type = (value >> 1) & 3;
        const size = value >> 3;
        if (type === RESERVED_BLOCK || size > BLOCK_BYTES) throw new DamagedFrame();
        const content = await portions.take(type === RLE_BLOCK ? 1 : size);
        yield { bytes: Buffer.concat([head, content]), isFirst: false, isLast: isLast && !hasChecksum };
      }
      if (hasChecksum) yield { bytes: await portions.take(4), isFirst: false, isLast: true };
    }
  } finally {
    await portions.close();
  }
}
