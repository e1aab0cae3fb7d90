import { bytesOf, databaseBytes } from './database-size.js';
import type { Session } from './duckdb-session.js';

/** The bytes of a small database, and of a small batch of files. */
const SMALL_DATABASE = 16 << 20;
const SMALL_BATCH = 32 << 20;

/**
 * How many processors the statements of a database may use: one while it is small, else all that it may. TRICKY: rows of a table are shared
 * out by the hundred thousand, and a thread that waits for another one asks all the time whether that is done. So on little data more
 * threads only take processors away from others.
 */
export class Processors {
  private isOne = false;

  /** `most` is how many it may use; all by default. */
  constructor(
    private readonly session: Session,
    private readonly folder: string,
    private readonly most: number | undefined,
  ) {}

  /** Chooses for the next statement, which may read files. */
  async choose(files: readonly { readonly path: string }[] = []): Promise<void> {
    const { file, log } = databaseBytes(this.folder);
    const isOne = file + log <= SMALL_DATABASE && bytesOf(files) <= SMALL_BATCH;
    if (isOne === this.isOne) return;
    await this.session.run(
      isOne ? 'SET threads = 1' : this.most === undefined ? 'RESET threads' : `SET threads = ${this.most}`,
    );
    this.isOne = isOne;
  }
}
