import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Statement } from './statement.js';

const nameOf = (number: number) => String(number).padStart(9, '0');

/** The statements that changed something, in the order in which they were done: a folder that another process reads. */
export class StatementLog {
  last: number;

  constructor(private readonly folder: string) {
    mkdirSync(folder, { recursive: true });
    const numbers = readdirSync(folder).map((name) => Number(/^(\d+)\.json$/.exec(name)?.[1] ?? 0));
    this.last = Math.max(0, this.applied ?? 0, ...numbers);
  }

  /** Notes a statement, and answers its number. */
  add(statement: Statement): number {
    this.last += 1;
    const path = join(this.folder, nameOf(this.last));
    if (statement.body !== undefined) linkSync(statement.body, `${path}.rows`);
    const body = statement.body === undefined ? undefined : `${path}.rows`;
    writeFileSync(`${path}.new`, JSON.stringify({ at: Date.now(), statement: { ...statement, body } }));
    renameSync(`${path}.new`, `${path}.json`);
    return this.last;
  }

  /** The statement of a number, and when it was done; undefined while there is none. */
  read(number: number): { readonly at: number; readonly statement: Statement } | undefined {
    const path = join(this.folder, `${nameOf(number)}.json`);
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
  }

  /** Up to which number the reader has come; undefined when there is no reader. */
  get applied(): number | undefined {
    const path = join(this.folder, 'applied');
    return existsSync(path) ? Number(readFileSync(path, 'utf8')) : undefined;
  }

  /** Notes how far the reader has come, and removes what it has read. */
  note(number: number): void {
    writeFileSync(join(this.folder, 'applied.new'), String(number));
    renameSync(join(this.folder, 'applied.new'), join(this.folder, 'applied'));
    for (const end of ['json', 'rows'])
      rmSync(join(this.folder, `${nameOf(number)}.${end}`), { force: true });
  }
}
