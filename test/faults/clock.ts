import { writeFileSync } from 'node:fs';
import { compile, type Preloaded, writeInPlace } from './preloaded.js';

/** The clock of processes, which can be set while they run. See clock.c. */
export class Clock implements Preloaded {
  private constructor(
    readonly library: string,
    private readonly file: string,
  ) {}

  /** A clock that is kept in files whose paths begin with this one. Undefined where it can't be compiled. */
  static of(path: string): Clock | undefined {
    writeFileSync(path, Buffer.alloc(8));
    return compile('clock.c', `${path}.so`) ? new Clock(`${path}.so`, path) : undefined;
  }

  get variables(): Record<string, string> {
    return { CLOCK_MOVED: this.file };
  }

  /** Moves it by some time from that of the machine, in milliseconds. */
  move(ms: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(Math.round(ms / 1000)));
    writeInPlace(this.file, bytes);
  }
}
