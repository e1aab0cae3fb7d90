import { useEffect, useRef, useState } from 'preact/hooks';
import type { Address } from './address.js';
import type { ServiceError } from './client.js';
import { exactly, instantText, locale, rangeText } from './format.js';
import { MOST_ROWS, type Query, type SqlAnswer } from './sql-answer.js';
import { SqlChart } from './sql-chart.js';
import { FILES, type FileKind, save } from './sql-download.js';
import { SqlRows } from './sql-rows.js';

interface SqlResultProps {
  readonly address: Address;
  readonly query: Query;
  readonly answer: SqlAnswer;
  readonly isRunning: boolean;
  /** Whether the statement or its parameters have changed since then. */
  readonly isOld: boolean;
}

/** The result of a query: a line about it, a table, files, and a chart. */
export function SqlResult({ address, query, answer, isRunning, isOld }: SqlResultProps) {
  const { columns, elapsed_ms, row_count, snapshot } = answer.meta;
  const isCut = row_count > MOST_ROWS;
  const rows = isCut ? answer.data.slice(0, MOST_ROWS) : answer.data;
  const newest = snapshot.newest_day;
  return (
    <>
      <section class={`panel span-12 result ${isRunning ? 'loading' : ''}`} aria-labelledby="result-title">
        <header>
          <h2 id="result-title" data-rows={row_count}>
            {isCut ? `The first ${exactly(MOST_ROWS, 'count')} rows` : rowsText(row_count)}
          </h2>
          <p class="note" role="status">
            {isCut && 'Downloads have all rows. '}
            {(elapsed_ms / 1000).toLocaleString(locale, { minimumFractionDigits: 3 })} s. Snapshot:{' '}
            {newest !== null && `newest day ${rangeText(newest, newest)}, `}
            published {instantText(snapshot.published_at)}.{isOld && ' The statement has changed since.'}
          </p>
          <Downloads query={query} answer={answer} />
        </header>
        <pre class="printed">{query.sql}</pre>
        {rows.length === 0 ? (
          <p class="note none">The query has no rows.</p>
        ) : (
          <SqlRows columns={columns} rows={rows} />
        )}
      </section>
      <SqlChart address={address} columns={columns} rows={rows} />
    </>
  );
}

function rowsText(count: number): string {
  return `${exactly(count, 'count')} ${count === 1 ? 'row' : 'rows'}`;
}

/** Saves all rows as a file, by running the same statement again. */
function Downloads({ query, answer: { meta } }: Pick<SqlResultProps, 'query' | 'answer'>) {
  const [asked, setAsked] = useState<{ name: string; controller: AbortController }>();
  const [sentence, setSentence] = useState('');
  const present = useRef<AbortController>(undefined);
  useEffect(() => () => present.current?.abort(), []);
  const start = async (file: FileKind) => {
    const controller = new AbortController();
    present.current = controller;
    setAsked({ name: file.name, controller });
    setSentence('');
    try {
      const published = await save(file, query, meta.columns, controller.signal);
      if (published !== null && published !== meta.snapshot.published_at)
        setSentence(
          `The file is from the snapshot published ${instantText(published)}, which is newer than these rows.`,
        );
    } catch (error) {
      if (!controller.signal.aborted) setSentence((error as ServiceError).message);
    }
    setAsked(undefined);
  };
  return (
    <div class="downloads">
      {asked === undefined ? (
        FILES.map((file) => (
          <button
            key={file.name}
            type="button"
            aria-label={`Download as ${file.name}`}
            onClick={() => start(file)}
          >
            {file.name}
          </button>
        ))
      ) : (
        <button type="button" onClick={() => asked.controller.abort()}>
          Cancel {asked.name}
        </button>
      )}
      <p class="note" role="alert">
        {sentence}
      </p>
    </div>
  );
}
