import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Asked, ServiceError } from './client.js';
import { csvOf, download } from './csv.js';
import { exactly, locale } from './format.js';
import { closeMenu } from './menu.js';

/** Rows as a reader of a table sees them: the first cell names the row. */
export interface Table {
  readonly columns: readonly string[];
  /** Numbers as they are in the answer. */
  readonly rows: readonly (readonly (string | number | null)[])[];
  /** The columns of dollars. */
  readonly dollars?: readonly string[];
  /** The columns whose sum means something. */
  readonly summed?: readonly string[];
}

/** The source of shown numbers: their rows, their request and their definition. */
export interface Source {
  /** The name of the chart, for links, tests and files. */
  readonly name: string;
  readonly asked: Asked<unknown>;
  /** The shown rows, once they have arrived. */
  readonly table: Table | undefined;
  /** The file of `sql/` that defines these numbers, without its extension, if there is one. */
  readonly definition?: string;
}

export interface PanelProps extends Source {
  readonly title: ComponentChildren;
  readonly note?: ComponentChildren | undefined;
  /** Whether the content is already a table. */
  readonly isTable?: boolean;
  /** Its width on a large screen, in twelfths. */
  readonly span?: 3 | 4 | 6 | 8 | 12;
  readonly children: ComponentChildren;
  /** Another chart of the panel, with a source of its own. */
  readonly beside?: ComponentChildren;
}

/** A chart or list with its title, and a menu with its table, CSV, request and definition. */
export function Panel({ title, note, isTable = false, span = 6, children, beside, ...source }: PanelProps) {
  const { name, asked, table } = source;
  const { dots, shown, below } = useSource(source);
  return (
    <section class={`panel span-${span}`} aria-labelledby={`${name}-title`}>
      <header>
        <h2 id={`${name}-title`}>{title}</h2>
        {note !== undefined && <p class="note">{note}</p>}
        {dots}
      </header>
      {asked.error !== undefined ? (
        <Problem error={asked.error} again={asked.again} />
      ) : (
        <figure data-chart={name} class={asked.isLoading ? 'loading' : ''} aria-busy={asked.isLoading}>
          {children}
          {table && (
            <TableOf
              table={table}
              isShown={shown === 'table'}
              isTwin={isTable}
              caption={name.replaceAll('-', ' ')}
            />
          )}
        </figure>
      )}
      {beside}
      {below}
    </section>
  );
}

/** The menu of a panel, the chosen entry, and the texts that it shows. */
export function useSource({ name, asked, table, definition }: Source) {
  const [shown, setShown] = useState<'table' | 'request' | 'definition' | undefined>();
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => closeMenu(menu.current);
  const choose = (what: typeof shown) => {
    setShown(what === shown ? undefined : what);
    close();
  };
  const save = () => {
    if (table !== undefined) download(`${name}.csv`, 'text/csv', csvOf(table.columns, table.rows));
    close();
  };
  const dots = (
    <details class="menu dots" ref={menu}>
      <summary aria-label={`More about ${name.replaceAll('-', ' ')}`} />
      <div>
        <button type="button" onClick={() => choose('table')}>
          Table
        </button>
        <button type="button" disabled={table === undefined} onClick={save}>
          CSV
        </button>
        <button type="button" onClick={() => choose('request')}>
          curl
        </button>
        {definition !== undefined && (
          <button type="button" onClick={() => choose('definition')}>
            Definition
          </button>
        )}
      </div>
    </details>
  );
  const below = (
    <>
      {shown === 'request' && asked.path && <Code text={curlOf(asked.path, asked.body)} />}
      {shown === 'definition' && definition !== undefined && <Definition name={definition} />}
    </>
  );
  return { dots, shown, below };
}

function curlOf(path: string, body: string | undefined): string {
  const url = new URL(path, document.baseURI).href.replaceAll("'", '%27');
  const posted = `-H 'Content-Type: application/json' -d '${body?.replaceAll("'", "'\\''")}' `;
  return `curl -H "Authorization: Bearer $DAYBOOK_KEY" ${body === undefined ? '' : posted}\\\n  '${url}'`;
}

/** The table of a chart: always there for screen readers, and visible on demand. */
export function TableOf({
  table,
  isShown,
  isTwin,
  caption,
}: {
  table: Table;
  isShown: boolean;
  /** Whether the content is already a table, so that screen readers have one. */
  isTwin: boolean;
  caption: string;
}) {
  return (
    <div
      class={isShown ? 'scrolls' : 'unseen'}
      hidden={isTwin && !isShown}
      // It scrolls, and the keyboard only scrolls an element that has the focus.
      {...(isShown ? { role: 'group', tabIndex: 0, 'aria-label': caption } : {})}
    >
      <table class="rows">
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {table.columns.map((column, index) => (
              <th key={column} scope="col" class={index === 0 ? '' : 'number'}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map(([first, ...cells]) => (
            <tr key={first}>
              <th scope="row">{first}</th>
              {cells.map((cell, index) => (
                <td key={index} class={typeof cell === 'number' ? 'number' : ''} data-value={cell}>
                  {cellText(table, index, cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {table.summed !== undefined && table.rows.length > 1 && (
          <tfoot>
            <tr>
              <th scope="row">Sum</th>
              {table.columns.slice(1).map((column, index) => (
                <td key={column} class="number">
                  {cellText(table, index, sumOf(table, column, index))}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

/** A cell of the column with this place behind the first one. */
function cellText({ columns, dollars = [] }: Table, index: number, cell: string | number | null | undefined) {
  if (typeof cell !== 'number') return cell;
  return dollars.includes(columns[index + 1] ?? '')
    ? exactly(cell, 'dollars')
    : cell.toLocaleString(locale, { maximumFractionDigits: 4 });
}

/** The sum of a column's numbers; null if it has none, or means nothing. */
function sumOf({ rows, summed = [] }: Table, column: string, index: number): number | null {
  const numbers = rows.map((row) => row[index + 1]).filter((cell) => typeof cell === 'number');
  return !summed.includes(column) || numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0);
}

/** A text to read or copy. */
export function Code({ text }: { text: string }) {
  const [copied, setCopied] = useState<string>();
  const shown = useRef<HTMLPreElement>(null);
  const copy = () => {
    // Over plain HTTP, browsers don't let a page copy, so the reader copies the selected text.
    if (!('clipboard' in navigator)) return void getSelection()?.selectAllChildren(shown.current as Node);
    navigator.clipboard.writeText(text).then(() => setCopied(text));
  };
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard scrolls the element that has the focus. */}
      <pre ref={shown} tabIndex={0}>
        {text}
      </pre>
      <button type="button" onClick={copy}>
        {copied === text ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}

function Definition({ name }: { name: string }) {
  const [text, setText] = useState('');
  useEffect(() => {
    import('./definitions.js').then(({ definitionOf }) => setText(definitionOf(name)));
  }, [name]);
  return <Code text={text} />;
}

/** Shows an answer once it has arrived. If reading it again fails, the error appears above it. */
export function Answered<Answer>({
  asked: { answer, error, again },
  children,
}: {
  asked: Pick<Asked<Answer>, 'answer' | 'error' | 'again'>;
  children: (answer: Answer) => ComponentChildren;
}) {
  return (
    <>
      {error !== undefined && <Problem error={error} again={again} />}
      {answer !== undefined ? children(answer) : error === undefined && <p class="note none">–</p>}
    </>
  );
}

/** The service's error, with a button to try again. */
export function Problem({ error, again }: { error: ServiceError; again: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>{error.message}</p>
      {error.requestId !== undefined && <p class="note">Request {error.requestId}</p>}
      <button type="button" onClick={again}>
        Try again
      </button>
    </div>
  );
}
