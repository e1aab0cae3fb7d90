import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Encodings of bodies, the preferred one first: a client that accepts all gets the first. */
export const ENCODINGS = ['gzip', 'br'] as const;
export type Encoding = (typeof ENCODINGS)[number];

const gzipped = promisify(gzip);
const brotlied = promisify(brotliCompress);

const COMPRESS: Record<Encoding, (plain: Buffer) => Promise<Buffer>> = {
  gzip: (plain) => gzipped(plain),
  br: (plain) =>
    brotlied(plain, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length },
    }),
};

/** The compressed forms of a body, each made once for all requests. */
export class Encodings {
  private readonly made = new Map<Encoding, Promise<Buffer>>();
  /** How many bytes the forms take that are made. */
  bytes = 0;

  /** `grown` is called when another form is made. */
  constructor(private readonly grown: () => void = () => undefined) {}

  of(plain: Buffer, encoding: Encoding): Promise<Buffer> {
    const known = this.made.get(encoding);
    if (known !== undefined) return known;
    const making = COMPRESS[encoding](plain).then((bytes) => {
      this.bytes += bytes.length;
      this.grown();
      return bytes;
    });
    this.made.set(encoding, making);
    return making;
  }
}
