import { constants, createReadStream, createWriteStream } from 'node:fs';
import { appendFile, copyFile, type FileHandle, open, rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { type Footer, movedFooter } from './parquet-footer.js';

const MAGIC = 'PAR1';
/** What stands behind a footer: its length, and the magic. */
const TAIL = 8;

/** How long a reader may take from a file's footer to its rows. */
const READ_LIMIT_MS = 3_600_000;

interface Parquet {
  readonly size: number;
  /** Where its footer begins. */
  readonly footerAt: number;
  readonly bytes: Buffer;
  readonly footer: Footer;
}

async function read(file: FileHandle): Promise<Parquet> {
  const { size } = await file.stat();
  const tail = Buffer.alloc(TAIL);
  await file.read(tail, 0, TAIL, Math.max(0, size - TAIL));
  const footerAt = size - TAIL - tail.readUInt32LE(0);
  if (tail.toString('latin1', 4) !== MAGIC || footerAt < MAGIC.length)
    throw new TypeError('the file is no Parquet file');
  const bytes = Buffer.alloc(size - TAIL - footerAt);
  await file.read(bytes, 0, bytes.length, footerAt);
  return { size, footerAt, bytes, footer: movedFooter(bytes, 0) };
}

/** How many rows a Parquet file has. Throws for a file that is none. */
export async function rowsIn(path: string): Promise<number> {
  const file = await open(path);
  try {
    return (await read(file)).footer.rows;
  } finally {
    await file.close();
  }
}

/**
 * Where rows can be put into a file so that nobody who reads it as it is finds others: behind all, or where rows have been
 * that nobody can be reading any more.
 */
function placeFor(length: number, { size, footerAt, footer }: Parquet, isQuiet: boolean): number {
  const gaps = [
    { from: 0, to: footer.start },
    { from: footer.end, to: footerAt },
  ];
  return (isQuiet ? gaps.find(({ from, to }) => to - from >= length)?.from : undefined) ?? size;
}

/**
 * Makes a file ready to take another's place under the eyes of its readers: the other's rows and footer stay where they
 * were, beside the new rows, and the new footer comes last.
 *
 * TRICKY: a reader may open a path twice, for the footer and for the rows (DuckDB does), and would look for the old rows in
 * the new file. There they are: it reads the old day to its end. Who opens the file from then on sees the new rows alone.
 */
export async function keepRows(path: string, other: string): Promise<void> {
  const [added, old] = [await open(path), await open(other)];
  try {
    const [plain, kept] = [await read(added), await read(old)];
    if (kept.footer.rows === 0) return;
    const isQuiet = (await added.stat()).mtimeMs - (await old.stat()).mtimeMs > READ_LIMIT_MS;
    const place = placeFor(plain.footerAt, kept, isQuiet);
    const joined = `${path}.joined`;
    await copyFile(other, joined, constants.COPYFILE_FICLONE);
    const rows = createReadStream(path, { end: plain.footerAt - 1, highWaterMark: 2 ** 20 });
    await pipeline(rows, createWriteStream(joined, { flags: 'r+', start: place }));
    const footer = movedFooter(plain.bytes, place).bytes;
    const tail = Buffer.alloc(TAIL, MAGIC);
    tail.writeUInt32LE(footer.length);
    await appendFile(joined, Buffer.concat([footer, tail]));
    await rename(joined, path);
  } finally {
    await added.close();
    await old.close();
  }
}
