import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzip } from 'node:zlib';
import { rmSync } from '../disk/renames.js';
import { codeOf } from '../exit.js';
import { setAside, writePrivate } from '../hooks/spool.js';

const pack = promisify(gzip);

/** The maximum of a body, in lines and in characters before compression: well below the default limits of proxies. */
const BODY_LINES = 5000;
const BODY_CHARACTERS = 4 << 20;

/**
 * Bodies of events on their way to a server: compressed files that only their owner can read. Every event is spooled before its file
 * counts as read, and stays until the server has it.
 */
export class BodySpool {
  /** The bytes on disk of each waiting body, oldest first. */
  private sizes = new Map<string, number>();
  private made = 0;

  constructor(
    private readonly folder: string,
    private readonly clock: () => number,
  ) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.look();
  }

  /** Finds waiting bodies, including those of earlier processes. */
  look(): void {
    const found = readdirSync(this.folder);
    // These are left over from a process that was killed while writing.
    for (const name of found) if (name.startsWith('.')) rmSync(join(this.folder, name), { force: true });
    const names = found.filter((name) => /^\d+-.*\.ndjson\.gz$/.test(name)).sort();
    this.sizes = new Map(names.map((name) => [name, statSync(join(this.folder, name)).size]));
  }

  /** The oldest waiting body. */
  get first(): string | undefined {
    return this.sizes.keys().next().value;
  }

  /** How many events wait. */
  get events(): number {
    return [...this.sizes.keys()].reduce((sum, name) => sum + eventsIn(name), 0);
  }

  /** The bytes on disk of all waiting bodies. */
  get bytes(): number {
    return [...this.sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** The bytes of a body; undefined if another process has already sent it. */
  read(name: string): Buffer | undefined {
    try {
      return readFileSync(join(this.folder, name));
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      this.sizes.delete(name);
      return undefined;
    }
  }

  /** Spools events, and returns once they are on disk. */
  async keep(lines: readonly string[]): Promise<void> {
    let [some, characters]: [string[], number] = [[], 0];
    for (const line of lines) {
      if (some.length >= BODY_LINES || characters + line.length > BODY_CHARACTERS) {
        await this.add(some);
        [some, characters] = [[], 0];
      }
      some.push(line);
      characters += line.length;
    }
    if (some.length > 0) await this.add(some);
  }

  /** Removes a body that the server has accepted. */
  remove(name: string): void {
    rmSync(join(this.folder, name), { force: true });
    this.sizes.delete(name);
  }

  /** Moves a damaged body out of the way, and answers its new path. */
  async setAside(name: string): Promise<string> {
    const path = join(this.folder, name);
    await setAside(path, 'damaged');
    this.sizes.delete(name);
    return `${path}.damaged`;
  }

  /** Replaces a body by its two halves. */
  async split(name: string, lines: readonly string[]): Promise<void> {
    const middle = lines.length >> 1;
    await this.add(lines.slice(0, middle));
    await this.add(lines.slice(middle));
    this.remove(name);
  }

  private async add(lines: readonly string[]): Promise<void> {
    this.made += 1;
    const order = `${String(this.clock()).padStart(15, '0')}-${String(this.made).padStart(6, '0')}`;
    const name = `${order}-${randomUUID().slice(0, 8)}-${lines.length}.ndjson.gz`;
    const body = await pack(`${lines.join('\n')}\n`);
    await writePrivate(this.folder, name, body);
    this.sizes.set(name, body.length);
  }
}

/** The events of a body; undefined if it is damaged. */
export function linesOf(body: Buffer): string[] | undefined {
  try {
    return gunzipSync(body).toString().trimEnd().split('\n');
  } catch {
    return undefined;
  }
}

/** How many events are in a body, by its name. */
export function eventsIn(name: string): number {
  return Number(/-(\d+)\.ndjson\.gz$/.exec(name)?.[1] ?? 0);
}
