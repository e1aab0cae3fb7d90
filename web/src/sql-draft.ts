import { useEffect, useRef, useState } from 'preact/hooks';
import { own } from '../../src/input/own.js';
import { parametersIn } from '../../src/sql/sql-statements.js';
import { type Address, go, hrefOf, rangeOf } from './address.js';
import type { Session } from './session.js';
import type { Query } from './sql-answer.js';

/** A statement being written, and the values of its parameters as they are in their fields. */
export interface Draft {
  readonly sql: string;
  readonly values: Readonly<Record<string, string>>;
}

const NONE: Draft = { sql: '', values: {} };

/** Longer drafts aren't put into the address, since not every server on the way accepts them. */
const MOST_CHARACTERS = 6000;

const WRITE_AFTER_MS = 300;

/** The statement of an address; undefined if it has none. */
function draftIn({ choices: { sql, ...others } }: Address): Draft | undefined {
  if (sql === undefined) return undefined;
  const values = Object.entries(others).filter(([name]) => name.startsWith('$'));
  return { sql, values: Object.fromEntries(values.map(([name, value]) => [name.slice(1), value])) };
}

/** An address with a statement, unless the statement is too long. */
export function withDraft(address: Address, draft: Draft): Address {
  const others = Object.entries(address.choices).filter(([name]) => name !== 'sql' && !name.startsWith('$'));
  const values = Object.entries(draft.values).map(([name, value]) => [`$${name}`, value]);
  const choices = {
    ...Object.fromEntries(others),
    ...(isLong(draft) || draft.sql === '' ? {} : { sql: draft.sql, ...Object.fromEntries(values) }),
  };
  return { ...address, choices };
}

export function isLong({ sql, values }: Draft): boolean {
  return new URLSearchParams({ sql, ...values }).toString().length > MOST_CHARACTERS;
}

/** The draft with a value for each of its parameters and no others: at first, the range of the address. */
export function filled({ sql, values }: Draft, address: Address, session: Session): Draft {
  const { last } = session.days;
  const range: Record<string, string> = last === null ? {} : { ...rangeOf(address, last), day: last };
  const names = [...parametersIn(sql)];
  return {
    sql,
    values: Object.fromEntries(names.map((name) => [name, own(values, name) ?? own(range, name) ?? ''])),
  };
}

/** The query of a draft: an empty field is NULL. */
export function queryOf({ sql, values }: Draft): Query {
  const params = Object.entries(values).map(([name, value]) => [name, value === '' ? null : value]);
  return { sql, params: Object.fromEntries(params) };
}

interface Drafting {
  readonly draft: Draft;
  /** How often the draft was replaced by one from elsewhere. */
  readonly round: number;
  readonly write: (draft: Draft) => void;
  readonly replace: (draft: Draft) => void;
}

/** The draft from the address, or else the one that this window had before. Both are updated as the user writes. */
export function useDraft(address: Address, session: Session): Drafting {
  const key = `sql of ${session.org_id} ${session.user_id ?? session.role}`;
  const [state, setState] = useState(() => ({ draft: draftIn(address) ?? stored(key) ?? NONE, round: 0 }));
  const draft = filled(state.draft, address, session);
  const replace = (next: Draft) => setState(({ round }) => ({ draft: next, round: round + 1 }));
  const text = JSON.stringify(draft);
  /** The draft that was written here and put into the address. */
  const written = useRef('');
  useEffect(() => {
    const linked = draftIn(address);
    if (linked === undefined || JSON.stringify(linked) === written.current) return;
    written.current = JSON.stringify(linked);
    replace(linked);
  }, [address]);
  useEffect(() => {
    sessionStorage.setItem(key, text);
    const timer = setTimeout(() => {
      const next = withDraft(address, draft);
      written.current = JSON.stringify(draftIn(next));
      if (hrefOf(next) !== hrefOf(address)) go(next, true);
    }, WRITE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text, address]);
  const write = (next: Draft) => setState(({ round }) => ({ draft: next, round }));
  return { draft, round: state.round, write, replace };
}

function stored(key: string): Draft | undefined {
  const text = sessionStorage.getItem(key);
  return text === null ? undefined : (JSON.parse(text) as Draft);
}
