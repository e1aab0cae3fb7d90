import { readSql } from '../store/sql-text.js';

/**
 * The columns of an answer that matter most in a table, the first one first, as the comment `Shown first: ...` of its file in
 * `sql/answer` names them. Empty if it names none.
 */
export function shownFirst(file: string): string[] {
  const [comment = ''] = /^(?:--.*\n)*/.exec(readSql(`answer/${file}.sql`)) ?? [];
  const [, names] = /Shown first: ([^.:]*)\./.exec(comment.replaceAll(/\n-- */g, ' ')) ?? [];
  return names?.split(', ') ?? [];
}
