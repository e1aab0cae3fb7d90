import { useEffect, useRef, useState } from 'preact/hooks';
import { go } from './address.js';
import type { Answers } from './answers.js';
import { type ServiceError, useAnswer } from './client.js';
import { RECIPES } from './cookbook.js';
import { isDay } from './days.js';
import type { PageProps } from './page-props.js';
import { Problem } from './panel.js';
import { askRows, placeOf, type Query, type SqlAnswer } from './sql-answer.js';
import { type Draft, filled, isLong, queryOf, useDraft, withDraft } from './sql-draft.js';
import { SqlEditor } from './sql-editor.js';
import { SqlResult } from './sql-result.js';

const MODIFIER = /Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl+';

/** Runs SQL: a statement, and its rows as a table and a chart. */
export function SqlPage({ address, session }: PageProps) {
  const { draft, round, write, replace } = useDraft(address, session);
  const tables = useAnswer<Answers['getSqlTables']>('api/v1/sql/tables').answer?.data;
  const { outcome, isRunning, run, cancel } = useQuery();
  const start = () => draft.sql.trim() !== '' && run(queryOf(draft));
  const isShown = outcome?.query.sql === draft.sql;
  const take = (sql: string) => {
    const { x, y, group, ...choices } = address.choices;
    const next = filled({ sql, values: {} }, address, session);
    replace(next);
    // A new history entry, so that Back returns to the statement before.
    go(withDraft({ ...address, choices }, next), draft.sql === '');
  };
  return (
    <>
      <div class="top">
        <div>
          <h1>SQL</h1>
          <p>Events and day tables of {session.org_id}, in DuckDB’s SQL. Days and instants are in UTC.</p>
        </div>
      </div>
      <div class="panels">
        <form
          class="panel span-8 statement"
          aria-label="Statement"
          onSubmit={(event) => {
            event.preventDefault();
            start();
          }}
        >
          <SqlEditor
            text={draft.sql}
            round={round}
            tables={tables ?? NO_TABLES}
            place={isShown && outcome.error ? placeOf(outcome.error.message, draft.sql) : undefined}
            onChange={(sql) => write({ ...draft, sql })}
            onRun={start}
          />
          {isLong(draft) && (
            <p class="note">
              This statement is too long for the address, so a link to this page doesn’t have it.
            </p>
          )}
          <Parameters draft={draft} write={write} />
          <p class="actions">
            <button type="submit" class="main" disabled={isRunning || draft.sql.trim() === ''}>
              Run
            </button>
            <button type="button" disabled={!isRunning} onClick={cancel}>
              Cancel
            </button>
            <span class="note">{MODIFIER}Enter runs, Ctrl+Space completes, Tab leaves the editor.</span>
          </p>
        </form>
        <Cookbook take={take} />
        <p class="unseen" role="status">
          {isRunning ? 'Running' : outcome?.isCancelled ? 'Cancelled' : ''}
        </p>
        {outcome?.error !== undefined && (
          <section class="panel span-12 failed" aria-label="Error">
            <Problem error={outcome.error} again={start} />
          </section>
        )}
        {outcome?.isCancelled && <p class="panel span-12 note">The query was cancelled.</p>}
        {outcome?.answer !== undefined && (
          <SqlResult
            key={outcome.at}
            address={address}
            query={outcome.query}
            answer={outcome.answer}
            isRunning={isRunning}
            isOld={JSON.stringify(outcome.query) !== JSON.stringify(queryOf(draft))}
          />
        )}
      </div>
    </>
  );
}

const NO_TABLES: Answers['getSqlTables']['data'] = [];

const DATE = { type: 'date' } as const;
const TEXT = { type: 'text' } as const;

/** A field for each parameter of the statement. */
function Parameters({ draft, write }: { draft: Draft; write: (draft: Draft) => void }) {
  const names = Object.keys(draft.values);
  if (names.length === 0) return null;
  return (
    <div class="parameters">
      {names.map((name) => {
        const value = draft.values[name] ?? '';
        const isDate = /^(from|to|day)$|_day$/.test(name) && (value === '' || isDay(value));
        return (
          <label key={name}>
            ${name}
            <input
              {...(isDate ? DATE : TEXT)}
              value={value}
              placeholder="NULL"
              spellcheck={false}
              onInput={({ currentTarget }) =>
                write({ ...draft, values: { ...draft.values, [name]: currentTarget.value } })
              }
            />
          </label>
        );
      })}
    </div>
  );
}

function Cookbook({ take }: { take: (sql: string) => void }) {
  return (
    <section class="panel span-4 cookbook" aria-labelledby="cookbook-title">
      <header>
        <h2 id="cookbook-title">Cookbook</h2>
        <p class="note">questions to start from</p>
      </header>
      <ul>
        {RECIPES.map(({ question, sql }) => (
          <li key={question}>
            <button type="button" onClick={() => take(sql)}>
              {question}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Outcome {
  readonly query: Query;
  /** The time of arrival, which identifies it. */
  readonly at: number;
  readonly answer?: SqlAnswer;
  readonly error?: ServiceError;
  readonly isCancelled?: boolean;
}

/** Runs one query at a time. The last outcome stays until the next one arrives. */
function useQuery() {
  const [outcome, setOutcome] = useState<Outcome>();
  const [running, setRunning] = useState<AbortController>();
  const present = useRef<AbortController>(undefined);
  // Leaving the page cancels the query.
  useEffect(() => () => present.current?.abort(), []);
  const run = async (query: Query) => {
    if (running !== undefined) return;
    const controller = new AbortController();
    present.current = controller;
    setRunning(controller);
    const settled = await askRows(query, controller.signal).then(
      (answer) => ({ answer }),
      (error) => (controller.signal.aborted ? { isCancelled: true } : { error: error as ServiceError }),
    );
    setOutcome({ query, at: performance.now(), ...settled });
    setRunning(undefined);
  };
  return { outcome, isRunning: running !== undefined, run, cancel: () => running?.abort() };
}
