import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { access, constants, lstat, mkdir, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { digestOf } from '../disk/file-digest.js';
import { sync } from '../disk/refusals.js';
import { rename, rm, rmdir } from '../disk/renames.js';
import { codeOf } from '../exit.js';
import type { Store } from '../store/store.js';
import { ulid } from '../ulid.js';
import { type Body, bodyOf, digestOfBody, nameOf } from './body-name.js';
import { Room } from './room.js';
import { AsideList, DAMAGED, FOREIGN, type SetAside, unreadable } from './set-aside.js';
import { type Entry, settledOf, settlePart } from './settle-part.js';
import {
  BATCH_BYTES,
  BATCH_FILES,
  SettleSchedule,
  STOPPED_MS,
  type Waiting,
  type Watcher,
} from './settle-schedule.js';

/** A checked body that nobody was told of yet: on disk, or in memory on its way into a bucket. */
export interface Checked {
  readonly path: string;
  readonly body: Body;
  readonly bytes: number;
  /** All of it, if it is in memory. */
  readonly held?: Buffer | undefined;
}

/** Bodies that wait, the bytes of each organization. */
interface Held {
  readonly room: Room;
  files: number;
}

/** The bodies in the folder of an inbox that were acknowledged, on their way into the store. Inbox says which folders hold them. */
export class Acknowledged implements Waiting {
  private readonly ready: string;
  private readonly settling: string;
  private readonly aside: AsideList;
  private readonly schedule = new SettleSchedule(this);
  private report: (entry: SetAside) => void = () => {};
  /** Whether something was acknowledged since it was last looked. */
  private isNew = false;
  /** The bodies that are acknowledged, and neither settled nor set aside. */
  private held: Held;
  /** Those of them that came since the last drain began. */
  private come: Held;
  /** When something was settled last, or began to wait: Unix milliseconds. */
  private movedAt = 0;

  private constructor(
    folder: string,
    readonly limitBytes: number,
    private readonly clock: () => number,
  ) {
    this.ready = join(folder, 'ready');
    this.settling = join(folder, 'settling');
    this.aside = new AsideList(clock);
    this.held = this.nothing();
    this.come = this.nothing();
  }

  private nothing(): Held {
    return { room: new Room(this.limitBytes), files: 0 };
  }

  /** Reads the folder of an inbox. */
  static open(folder: string, limitBytes: number, clock: () => number): Acknowledged {
    const acknowledged = new Acknowledged(folder, limitBytes, clock);
    for (const part of [acknowledged.ready, acknowledged.settling]) {
      mkdirSync(part, { recursive: true });
      acknowledged.count(part);
    }
    return acknowledged;
  }

  /** Counts the files in a folder and below it. An unreadable one isn't counted: the first drain sets it aside. */
  private count(folder: string): void {
    try {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) this.count(path);
        else if (entry.isFile()) this.add(bodyOf(entry.name)?.orgId ?? '', lstatSync(path).size);
      }
    } catch (error) {
      if (codeOf(error) === '') throw error;
    }
  }

  /** The size of the bodies that wait to be settled, without those that are set aside. */
  get depth(): { readonly bytes: number; readonly files: number } {
    return { bytes: this.held.room.taken, files: this.held.files };
  }

  /** Whether an organization has to wait until some of its bodies are settled. */
  isFull(orgId: string): boolean {
    return this.held.room.isFull(orgId);
  }

  /** The files that the last drain couldn't settle. */
  get setAside(): readonly SetAside[] {
    return this.aside.entries;
  }

  /** Since when nothing was settled although something waits; undefined unless that is too long. Unix milliseconds. */
  get stoppedSince(): number | undefined {
    const isStopped = this.held.files > 0 && this.clock() - this.movedAt >= STOPPED_MS;
    return isStopped ? this.movedAt : undefined;
  }

  /** Counts a body that was acknowledged: it is in `ready` and on disk. */
  add(orgId: string, bytes: number): void {
    if (this.held.files === 0) this.movedAt = this.clock();
    for (const waiting of [this.held, this.come]) {
      waiting.room.take(orgId, bytes);
      waiting.files += 1;
    }
    this.isNew = true;
  }

  /** Moves checked bodies to where they are acknowledged, and has the disk keep that. */
  async keep(group: readonly Checked[]): Promise<void> {
    for (const { path, body, bytes } of group) {
      await rename(path, join(this.ready, nameOf(body)));
      this.add(body.orgId, bytes);
    }
    await sync(this.ready);
  }

  hasCome(): boolean {
    const { isNew } = this;
    this.isNew = false;
    return isNew;
  }

  /** Nobody else puts anything there. */
  async look(): Promise<void> {}

  /** Settles bodies from now on. */
  start(store: Store, { failed, setAside }: Watcher): void {
    this.report = setAside;
    this.schedule.start(store, failed);
  }

  /** Settles all bodies: see SettleSchedule. */
  drain(store: Store): Promise<void> {
    return this.schedule.drain(store);
  }

  /** Looks for unreadable files in the inbox of a data folder, and changes nothing. Only drains know the files that the store fails on. */
  static look(data: string, clock: () => number): Promise<readonly SetAside[]> {
    return new Acknowledged(join(data, 'inbox'), 0, clock).search();
  }

  private async search(): Promise<readonly SetAside[]> {
    this.aside.begin();
    for (const token of await this.namesIn(this.settling)) {
      const folder = join(this.settling, token);
      for (const name of await this.namesIn(folder)) await this.find(join(folder, name), bodyOf(name));
    }
    for (const name of await this.namesIn(this.ready)) await this.find(join(this.ready, name), bodyOf(name));
    this.aside.end(this.report);
    return this.setAside;
  }

  async settleAll(store: Store): Promise<void> {
    this.come = this.nothing();
    this.aside.begin();
    // Batches that a killed process was settling, and files that the store has failed on.
    for (const token of await readdir(this.settling)) await this.settle(store, token);
    const names = await this.namesIn(this.ready);
    for (const group of store.groups)
      await this.settleNew(
        store,
        names.filter((name) => store.groupOf(bodyOf(name)?.orgId ?? '') === group),
      );
    this.held = this.come;
    this.come = this.nothing();
    this.aside.end(this.report);
  }

  /** Settles bodies of one group of organizations, as few batches as possible. */
  private async settleNew(store: Store, names: readonly string[]): Promise<void> {
    for (let next = 0; next < names.length; ) {
      const token = ulid(this.clock());
      let [bytes, files] = [0, 0];
      for (; next < names.length && bytes <= BATCH_BYTES && files < BATCH_FILES; next += 1) {
        const name = names[next] as string;
        const entry = await this.find(join(this.ready, name), bodyOf(name));
        if (entry === undefined) continue;
        if (files === 0) await mkdir(join(this.settling, token));
        await rename(entry.path, join(this.settling, token, name));
        bytes += entry.bytes;
        files += 1;
      }
      if (files > 0) await this.settle(store, token);
    }
  }

  /** Settles the files of a batch, but for those that the store has already, and removes them. */
  private async settle(store: Store, token: string): Promise<void> {
    const folder = join(this.settling, token);
    const names = await this.namesIn(folder);
    const isSettled = names.length > 0 ? await settledOf(store, token) : () => false;
    const runs: Entry[][] = [[]];
    for (const name of names) {
      const path = join(folder, name);
      const body = bodyOf(name);
      if (body !== undefined && isSettled(name)) {
        await this.remove({ path, orgId: body.orgId, bytes: (await lstat(path)).size });
        continue;
      }
      const entry = await this.findWhole(path, body);
      const before = runs.at(-1)?.at(-1);
      // Another store, of one group, may have begun with the batch.
      if (
        before !== undefined &&
        entry !== undefined &&
        store.groupOf(before.orgId) !== store.groupOf(entry.orgId)
      )
        runs.push([]);
      if (entry !== undefined) runs.at(-1)?.push(entry);
      // A part is told by its first and last file, so one that stays can't be between them.
      else if (body !== undefined) runs.push([]);
    }
    for (const run of runs) {
      if (run.length === 0) continue;
      await settlePart(store, token, run, this.clock, {
        settled: (file) => this.remove(file),
        failed: ({ path }, error) => this.aside.fail(path, error),
      });
    }
    // It stays as long as something is in it.
    await rmdir(folder).catch(() => undefined);
  }

  private async remove({ path, orgId, bytes }: Pick<Entry, 'path' | 'orgId' | 'bytes'>): Promise<void> {
    await rm(path);
    this.movedAt = this.clock();
    this.held.room.giveBack(orgId, bytes);
    this.held.files = Math.max(0, this.held.files - 1);
  }

  /** The names in a folder, in order: none if nothing was ever put there, or for an unreadable one, which is set aside. */
  private async namesIn(folder: string): Promise<string[]> {
    try {
      return (await readdir(folder)).sort();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      if (codeOf(error) === '') throw error;
      this.aside.put(folder, codeOf(error) === 'ENOTDIR' ? FOREIGN : unreadable(error));
      return [];
    }
  }

  /** The body at a path; undefined for anything that can't be settled now, which is set aside. */
  private async find(path: string, body: Body | undefined): Promise<Entry | undefined> {
    try {
      const found = await lstat(path);
      if (body !== undefined && found.isFile()) {
        await access(path, constants.R_OK);
        if (!this.aside.isResting(path)) return { ...body, path, bytes: found.size, place: basename(path) };
      } else {
        // Neither a link nor a pipe is opened.
        this.aside.put(path, FOREIGN);
      }
    } catch (error) {
      if (codeOf(error) === '') throw error;
      if (codeOf(error) !== 'ENOENT') this.aside.put(path, unreadable(error));
    }
    return undefined;
  }

  /** The same, of a body that has the bytes that were acknowledged. */
  private async findWhole(path: string, body: Body | undefined): Promise<Entry | undefined> {
    const entry = await this.find(path, body);
    if (entry === undefined) return undefined;
    try {
      if (digestOfBody((await digestOf(path)).sha256) === entry.digest) return entry;
      this.aside.put(path, DAMAGED);
    } catch (error) {
      if (codeOf(error) === '') throw error;
      this.aside.put(path, unreadable(error));
    }
    return undefined;
  }

  /** Finishes the drain under way. */
  close(): Promise<void> {
    return this.schedule.close();
  }
}
