import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { collectGarbage } from '../memory.js';
import type { Store } from '../store/store.js';
import { ulid } from '../ulid.js';
import { requireOrganization } from './organization.js';

/** How much is settled together: bytes and files. */
const BATCH_BYTES = 256 << 20;
const BATCH_FILES = 5000;
/** How often it is looked whether something waits. */
const SETTLE_MS = 1000;
/** While more comes in, so many times only: a batch costs about the same whether it is small or not so small. */
const PATIENCE = 10;
/** When nothing has come for so many times, all that takes memory for it rests until something comes. */
const REST_AFTER = 10;

/** The bodies in the inbox that were acknowledged, on their way into the store. Inbox says which folders hold them. */
export class Acknowledged {
  private draining: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** Whether something was acknowledged since it was last looked. */
  private hasCome = false;
  /** Bytes and files that were acknowledged and are not settled yet. */
  private held = { bytes: 0, files: 0 };

  private constructor(
    private readonly folder: string,
    private readonly limitBytes: number,
    private readonly clock: () => number,
  ) {}

  /** Finds what is in the folder of an inbox. */
  static open(folder: string, limitBytes: number, clock: () => number): Acknowledged {
    for (const part of ['ready', 'settling']) mkdirSync(join(folder, part), { recursive: true });
    const acknowledged = new Acknowledged(folder, limitBytes, clock);
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const found = statSync(join(folder, path));
      if (found.isFile()) {
        acknowledged.held.bytes += found.size;
        acknowledged.held.files += 1;
      }
    }
    return acknowledged;
  }

  /** What waits to be settled. */
  get depth(): { readonly bytes: number; readonly files: number } {
    return this.held;
  }

  /** Counts a body that was acknowledged: it is in `ready` and on disk. */
  add(bytes: number): void {
    this.held.bytes += bytes;
    this.held.files += 1;
    this.hasCome = true;
  }

  /**
   * Settles from now on what comes: as soon as no more comes, or there is a batch of it, or it has waited for some seconds.
   * Failures go to `report`, and are tried again. When nothing has come for a while, `rest` is called.
   */
  start(store: Store, rest: () => Promise<void>, report: (error: unknown) => void): void {
    let looks = 0;
    let quiet = 0;
    this.timer = setInterval(() => {
      const { hasCome } = this;
      this.hasCome = false;
      quiet = this.held.files > 0 ? 0 : quiet + 1;
      if (quiet === REST_AFTER)
        rest()
          .then(() => store.rest())
          .then(collectGarbage)
          .catch(report);
      if (this.held.files === 0 || this.draining !== undefined) return;
      looks += 1;
      if (hasCome && looks < PATIENCE && this.held.bytes < Math.min(BATCH_BYTES, this.limitBytes / 2)) return;
      looks = 0;
      this.drain(store).catch(report);
    }, SETTLE_MS);
  }

  /** Settles all that is there. One at a time: who calls meanwhile waits for the one under way, and for the rest. */
  async drain(store: Store): Promise<void> {
    while (this.draining !== undefined) await this.draining;
    this.draining = this.settleAll(store);
    try {
      await this.draining;
    } finally {
      this.draining = undefined;
    }
  }

  private async settleAll(store: Store): Promise<void> {
    // What a killed process was settling.
    for (const token of await readdir(join(this.folder, 'settling'))) await this.settle(store, token);
    for (const orgId of (await readdir(join(this.folder, 'ready'))).sort()) {
      const ready = join(this.folder, 'ready', orgId);
      const names = (await readdir(ready)).sort();
      for (let next = 0; next < names.length; ) {
        const token = `${ulid(this.clock())}.${orgId}`;
        const folder = join(this.folder, 'settling', token);
        await mkdir(folder);
        let bytes = 0;
        for (const name of names.slice(next, next + BATCH_FILES)) {
          bytes += (await stat(join(ready, name))).size;
          await rename(join(ready, name), join(folder, name));
          next += 1;
          if (bytes > BATCH_BYTES) break;
        }
        await this.settle(store, token);
      }
    }
  }

  /** Settles the files of one batch, unless the store has them already, and removes them. */
  private async settle(store: Store, token: string): Promise<void> {
    const folder = join(this.folder, 'settling', token);
    const paths = (await readdir(folder)).sort().map((name) => join(folder, name));
    let bytes = 0;
    for (const path of paths) bytes += (await stat(path)).size;
    const [known] = await store.select('SELECT count(*) AS batches FROM batches WHERE token = $token', {
      token,
    });
    if (Number(known?.batches) === 0 && paths.length > 0) {
      const orgId = token.slice(token.indexOf('.') + 1);
      await requireOrganization(store, orgId, this.clock());
      // What was valid when it was acknowledged is valid later too.
      await store.settle({ orgId, format: 'canonical', paths, receivedAt: this.clock(), token });
    }
    await rm(folder, { recursive: true });
    this.held.bytes -= bytes;
    this.held.files -= paths.length;
  }

  /** Finishes what is under way. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    while (this.draining !== undefined) await this.draining.catch(() => undefined);
  }
}
