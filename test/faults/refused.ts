import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { compile, type Preloaded, writeInPlace } from './preloaded.js';

/** A folder in which processes can change nothing while that is so. See refused.c. */
export class Refused implements Preloaded {
  private constructor(
    readonly library: string,
    private readonly file: string,
    private readonly folder: string,
  ) {}

  /** `path` is where the paths of its files begin. Undefined where it can't be compiled. */
  static in(folder: string, path: string): Refused | undefined {
    writeFileSync(path, Buffer.alloc(4));
    return compile('refused.c', `${path}.so`) ? new Refused(`${path}.so`, path, folder) : undefined;
  }

  get variables(): Record<string, string> {
    return { REFUSED_ROOT: this.folder, REFUSED_ERROR: this.file };
  }

  /** Has each change fail from now on; without an error, none. */
  fail(error?: 'EROFS' | 'EACCES' | 'EIO'): void {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(error === undefined ? 0 : constants.errno[error]);
    writeInPlace(this.file, bytes);
  }
}
