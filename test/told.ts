import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll } from 'vitest';
import type { Source } from '../src/ingest/source.js';
import { ending, World } from './world.js';

/** What a source has made of files: events of a new organization, and what was rejected. */
export interface Told {
  readonly orgId: string;
  readonly byReason: Record<string, number>;
  /** The events of a type, in order of time and id: the values of some columns. */
  events(type: string, columns: string): Promise<unknown[][]>;
}

/** One world for the tests of a source in a file of tests. It lives at the end of 2026. */
export class SourceWorld {
  private opened: World | undefined;
  private organizations = 0;

  constructor(private readonly source: Source) {
    const atEnd = ending();
    beforeAll(async () => {
      this.opened = await World.create({}, atEnd);
      this.opened.now = Date.parse('2026-12-31T00:00:00Z');
    });
  }

  get world(): World {
    if (this.opened === undefined) throw new Error('The world is there once tests run.');
    return this.opened;
  }

  /** Reads files that are given by their names below a folder, and their contents. */
  tell(files: Record<string, string | Uint8Array>): Promise<Told> {
    const folder = join(this.world.folder, `told-${this.organizations + 1}`);
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    return this.read(folder);
  }

  /** Reads a folder. */
  async read(folder: string): Promise<Told> {
    this.organizations += 1;
    const orgId = `told-${this.organizations}`;
    const { world, source } = this;
    const { byReason } = await world.ingest([folder], { orgId, source, userId: 'ada' });
    const events = async (type: string, columns: string) => {
      const rows = await world.store.select(
        `SELECT ${columns} FROM events WHERE org_id = $org_id AND type = '${type}' ORDER BY occurred_at, event_id`,
        { org_id: orgId },
      );
      return rows.map((row) => Object.values(row));
    };
    return { orgId, byReason, events };
  }
}

/** Objects as lines. */
export function jsonLines(entries: readonly object[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}
