import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rmSync } from '../disk/renames.js';
import { writePrivate } from '../hooks/spool.js';
import { type ChangedFile, changedSince } from '../ingest/changed-files.js';
import type { InputFile } from '../ingest/input-files.js';
import type { Source } from '../ingest/source.js';
import { unitOf } from '../store/source-sql.js';
import { readJson } from './collect-folder.js';

const DIGEST_BYTES = 8;

/** The file on disk: the states of files by source and path. */
interface Known {
  readonly states?: Record<string, Record<string, string>>;
  readonly failed?: readonly string[];
}

/**
 * The files that were read, their states, and the digests of their events. Losing it does no harm: all files are read and sent again,
 * and their events still count once.
 */
export class SentFiles {
  private readonly states = new Map<string, Map<string, string>>();
  /** Files that couldn't be mapped. They aren't tried again until they change. */
  private failures: Set<string>;
  private readonly digests: string;

  constructor(private readonly folder: string) {
    const { states = {}, failed = [] } = (readJson(join(folder, 'files.json')) ?? {}) as Known;
    for (const [source, paths] of Object.entries(states))
      this.states.set(source, new Map(Object.entries(paths)));
    this.failures = new Set(failed);
    this.digests = join(folder, 'sent');
    mkdirSync(this.digests, { recursive: true, mode: 0o700 });
  }

  /** How many files couldn't be mapped. */
  get failed(): number {
    return this.failures.size;
  }

  /** The files that have changed since they were read. */
  changed(source: Source, files: readonly InputFile[]): readonly ChangedFile[] {
    return changedSince(this.of(source), files);
  }

  /** The digests of a file's events when it was last read. */
  digestsOf(source: Source, { path }: Pick<InputFile, 'path'>): Set<bigint> {
    const digests = new Set<bigint>();
    let bytes: Buffer;
    try {
      bytes = readFileSync(this.pathOf(source.name, path));
    } catch {
      return digests;
    }
    for (let at = 0; at + DIGEST_BYTES <= bytes.length; at += DIGEST_BYTES)
      digests.add(bytes.readBigUInt64LE(at));
    return digests;
  }

  /** Counts files as read at an instant in Unix milliseconds. Of a database, rows that are updated from then on are read. */
  know(source: Source, files: readonly InputFile[], at: number): void {
    for (const { path, state } of files)
      if (state !== undefined)
        this.of(source).set(path, unitOf(source, path) === 'database' ? `${state} ${at}` : state);
  }

  /** Notes a file's events and the state in which it was read. The file counts as read after `save`. */
  note(source: Source, path: string, state: string | undefined, digests: ReadonlySet<bigint>): void {
    const bytes = Buffer.alloc(digests.size * DIGEST_BYTES);
    let at = 0;
    for (const digest of digests) at = bytes.writeBigUInt64LE(digest, at);
    writeFileSync(this.pathOf(source.name, path), bytes, { mode: 0o600 });
    if (state !== undefined) this.of(source).set(path, state);
    this.failures.delete(path);
  }

  noteFailed(source: Source, { path, state }: InputFile): void {
    if (state !== undefined) this.of(source).set(path, state);
    this.failures.add(path);
  }

  save(): Promise<void> {
    const states = Object.fromEntries(
      [...this.states].map(([source, paths]) => [source, Object.fromEntries(paths)]),
    );
    return writePrivate(
      this.folder,
      'files.json',
      JSON.stringify({ states, failed: [...this.failures] } satisfies Known),
    );
  }

  /** Forgets the files of a source that are gone. Answers whether there were any. */
  keepOnly(source: Source, files: readonly InputFile[]): boolean {
    const paths = new Set(files.map(({ path }) => path));
    const gone = [...this.of(source).keys()].filter((path) => !paths.has(path));
    for (const path of gone) {
      this.of(source).delete(path);
      this.failures.delete(path);
      rmSync(this.pathOf(source.name, path), { force: true });
    }
    return gone.length > 0;
  }

  /** Forgets everything, so that all files are read and sent again. */
  async clear(): Promise<void> {
    this.states.clear();
    this.failures.clear();
    for (const name of readdirSync(this.digests)) rmSync(join(this.digests, name));
    await this.save();
  }

  private of({ name }: Source): Map<string, string> {
    const states = this.states.get(name) ?? new Map<string, string>();
    this.states.set(name, states);
    return states;
  }

  private pathOf(source: string, path: string): string {
    return join(this.digests, hash('md5', `${source} ${path}`));
  }
}
