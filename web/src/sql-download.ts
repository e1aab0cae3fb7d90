import { download, FORMULA } from './csv.js';
import { ask, type Column, kindOf, type Query, whole } from './sql-answer.js';

/** The file formats for saving a result. */
export const FILES = [
  { name: 'CSV', type: 'text/csv', ending: 'csv' },
  { name: 'Parquet', type: 'application/vnd.apache.parquet', ending: 'parquet' },
  { name: 'Arrow', type: 'application/vnd.apache.arrow.stream', ending: 'arrows' },
] as const;
export type FileKind = (typeof FILES)[number];

/** Saves all rows of a query as a file. Answers when their data was published. */
export async function save(
  { type, ending }: FileKind,
  query: Query,
  columns: readonly Column[],
  signal: AbortSignal,
): Promise<string | null> {
  const response = await ask(query, type, signal);
  const read = () => (ending === 'csv' ? safeCsv(response, columns).blob() : response.blob());
  download(`query.${ending}`, type, await whole(read, signal));
  return response.headers.get('x-daybook-published-at');
}

/** CSV in which spreadsheets don't run texts as formulas. */
function safeCsv({ body }: Response, columns: readonly Column[]): Response {
  const safe = safeTexts(columns.map((column) => kindOf(column) === 'number'));
  return new Response(
    body
      ?.pipeThrough(new TextDecoderStream())
      .pipeThrough(
        new TransformStream<string, string>({
          transform: (piece, controller) => controller.enqueue(safe(piece)),
        }),
      )
      .pipeThrough(new TextEncoderStream()) ?? null,
  );
}

/** Puts an apostrophe before texts of CSV that begin like a formula, piece by piece. */
function safeTexts(areNumbers: readonly boolean[]): (piece: string) => string {
  let column = 0;
  let [isHead, isQuoted, isFirst] = [true, false, true];
  return (piece) => {
    let safe = '';
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const character = piece.charAt(at);
      if (isFirst && !isQuoted && character === '"') {
        isQuoted = true;
        continue;
      }
      const isText = isHead || areNumbers[column] !== true;
      const isEnd = character === '\r' && !isQuoted;
      if (isFirst && isText && !isEnd && FORMULA.test(character)) {
        safe += `${piece.slice(from, at)}'`;
        from = at;
      }
      isFirst = !isQuoted && (character === ',' || character === '\n');
      if (character === '"') isQuoted = !isQuoted;
      if (!isFirst) continue;
      column = character === ',' ? column + 1 : 0;
      isHead &&= character === ',';
    }
    return safe + piece.slice(from);
  };
}
