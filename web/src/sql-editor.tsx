import {
  autocompletion,
  type Completion,
  type CompletionSource,
  completionKeymap,
  ifNotIn,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { SQLDialect, type SQLNamespace, sql } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, Prec, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'preact/hooks';
import { WORDS } from '../../src/sql/sql-words.js';
import type { Answers } from './answers.js';

type Table = Answers['getSqlTables']['data'][number];

interface SqlEditorProps {
  readonly text: string;
  /** Changes when the text is replaced from elsewhere. */
  readonly round: number;
  readonly tables: readonly Table[];
  /** The part that an error names, as long as the text hasn't changed. */
  readonly place: { readonly from: number; readonly to: number } | undefined;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

/** An editor of SQL that completes tables and columns. */
export function SqlEditor({ text, round, tables, place, onChange, onRun }: SqlEditorProps) {
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const heard = useRef({ onChange, onRun });
  heard.current = { onChange, onRun };

  useEffect(() => {
    if (holder.current === null) return;
    // The policy of the page refuses style elements. In a shadow root, the editor adopts style sheets instead.
    const root = holder.current.shadowRoot ?? holder.current.attachShadow({ mode: 'open' });
    const run = () => {
      heard.current.onRun();
      return true;
    };
    view.current = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          Prec.highest(keymap.of([{ key: 'Mod-Enter', run }])),
          language.of(languageOf([])),
          ...EXTENSIONS,
          EditorView.updateListener.of((update) => {
            if (update.docChanged) heard.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    return () => view.current?.destroy();
  }, []);

  useEffect(() => {
    view.current?.dispatch({ effects: language.reconfigure(languageOf(tables)) });
  }, [tables]);

  useEffect(() => {
    const { current } = view;
    // Text that is typed here comes back as a property only later, when more may have been typed.
    if (current === undefined || current.state.doc.toString() === text) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: text } });
  }, [round]);

  useEffect(() => {
    view.current?.dispatch({ effects: mark.of(place) });
  }, [place?.from, place?.to]);

  return <div class="editor" ref={holder} />;
}

const dialect = SQLDialect.define({
  keywords: WORDS.join(' ').toLowerCase(),
  types: 'bigint boolean date double integer interval timestamp timestamptz varchar decimal',
  // Parameters.
  specialVar: '$?',
  caseInsensitiveIdentifiers: true,
});

const language = new Compartment();

function languageOf(tables: readonly Table[]) {
  const schema: SQLNamespace = Object.fromEntries(
    tables.map(({ name, kind, about, columns }) => [
      name,
      { self: { label: name, type: 'class', detail: kind, info: about }, children: columns.map(optionOf) },
    ]),
  );
  const { language: data, extension } = sql({ dialect, schema, upperCaseKeywords: true });
  const source = ifNotIn(
    ['QuotedIdentifier', 'String', 'LineComment', 'BlockComment', '.'],
    columnsOf(tables),
  );
  return [extension, data.data.of({ autocomplete: source })];
}

function optionOf({ name, type, comment }: Table['columns'][number]): Completion {
  return { label: name, type: 'property', detail: type, ...(comment === null ? {} : { info: comment }) };
}

/** Completes columns of the tables that the statement reads, or of all tables if it reads none yet. */
function columnsOf(tables: readonly Table[]): CompletionSource {
  return (context) => {
    const word = context.matchBefore(/\w*/);
    if (word === null || (word.from === word.to && !context.explicit)) return null;
    if (/[.$]/.test(context.state.sliceDoc(word.from - 1, word.from))) return null;
    const read = context.state.doc.toString().matchAll(/\b(?:from|join)\s+(\w+)/gi);
    const names = new Set([...read].map(([, name]) => name));
    const named = tables.filter(({ name }) => names.has(name));
    const columns = (named.length === 0 ? tables : named).flatMap((table) => table.columns);
    const options = new Map(columns.map((column) => [column.name, { ...optionOf(column), boost: 1 }]));
    return { from: word.from, options: [...options.values()], validFor: /^\w*$/ };
  };
}

const mark = StateEffect.define<SqlEditorProps['place']>();

/** The part of the statement that an error names, until the text changes. */
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(present, { docChanged, effects, state }) {
    const place = effects.find((effect) => effect.is(mark))?.value;
    if (place !== undefined) {
      const to = Math.min(place.to, state.doc.length);
      const from = Math.min(place.from, Math.max(0, to - 1));
      return from < to ? Decoration.set(fault.range(from, to)) : Decoration.none;
    }
    return docChanged || effects.some((effect) => effect.is(mark)) ? Decoration.none : present;
  },
  provide: (field) => EditorView.decorations.from(field),
});
const fault = Decoration.mark({ class: 'fault' });

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.typeName, tags.bool, tags.null], color: 'var(--accent)' },
  { tag: [tags.string, tags.number], color: 'var(--c3)' },
  { tag: tags.special(tags.name), color: 'var(--c4)' },
  { tag: tags.comment, color: 'var(--ink-3)' },
]);

const theme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--surface)', fontSize: '13px', height: '100%' },
  '&.cm-focused': { outline: '0' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--ink-3)', border: '0' },
  '.cm-placeholder': { color: 'var(--ink-3)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)' },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--bad-soft)' },
  '.fault': { textDecoration: 'underline wavy var(--bad)', backgroundColor: 'var(--bad-soft)' },
  '.cm-specialChar': { color: 'var(--bad)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--mono)',
    fontSize: '12px',
    maxHeight: 'none',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 8px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600' },
  '.cm-completionDetail': { fontStyle: 'normal', color: 'var(--ink-3)' },
  'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-completionInfo': { font: '12px/1.5 var(--font)' },
});

/** Replaces the selection itself. Chromium would put the typed text into a style attribute, which the policy of the page refuses. */
const writeOver = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    const { state } = view;
    if (inputType !== 'insertText' || data === null || view.composing || state.selection.main.empty)
      return false;
    view.dispatch(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

const EXTENSIONS = [
  lineNumbers(),
  history(),
  highlightSpecialChars(),
  bracketMatching(),
  // A list that doesn't scroll needs no focus of its own.
  autocompletion({ icons: false, maxRenderedOptions: 10 }),
  EditorView.lineWrapping,
  placeholder('Write a SELECT, or take a question of the cookbook'),
  EditorView.contentAttributes.of({ 'aria-label': 'SQL statement', tabindex: '0' }),
  syntaxHighlighting(colors),
  theme,
  marked,
  writeOver,
  // Tab isn't bound, so that it leaves the editor.
  keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
];
