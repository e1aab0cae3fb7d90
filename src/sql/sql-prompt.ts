import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { UsageError } from '../exit.js';
import { print, printable } from '../terminal/printing.js';
import { table } from '../terminal/terminal.js';
import type { Shell } from './sql-shell.js';
import { statementsIn } from './sql-statements.js';
import { WORDS } from './sql-words.js';
import { unknownTable } from './unknown-table.js';

/** How much the history keeps: lines, and characters of each. */
const HISTORY_LINES = 1000;
const HISTORY_CHARACTERS = 10_000;

const HELP = `A statement ends with a semicolon. Tab completes words, tables and columns. Ctrl-C cancels a query, Ctrl-D leaves.
.tables       list the tables and views
.schema NAME  list the columns of one
.help         show this help
.quit         leave the prompt`;

/** Prompts for SQL until the input ends, and keeps the history in a file. */
export async function prompt(
  shell: Shell,
  {
    input,
    output,
    historyPath,
  }: { input: NodeJS.ReadableStream; output: NodeJS.WritableStream; historyPath: string },
): Promise<void> {
  const names = await namesOf(shell);
  const terminal = createInterface({
    input,
    output,
    terminal: true,
    history: readHistory(historyPath),
    historySize: HISTORY_LINES,
    removeHistoryDuplicates: true,
    completer: (line: string) => completions(line, names),
  });
  terminal.on('history', (history) => writeHistory(historyPath, history));
  let text = '';
  let isRunning = false;
  const ask = () => {
    terminal.setPrompt(text === '' ? 'daybook> ' : '    ...> ');
    terminal.prompt();
  };
  terminal.on('SIGINT', () => {
    if (isRunning) return shell.interrupt();
    text = '';
    // Clears the typed line too.
    terminal.write(null, { ctrl: true, name: 'e' });
    terminal.write(null, { ctrl: true, name: 'u' });
    print('', output);
    ask();
  });
  const waiting: string[] = [];
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) {
      try {
        if (text === '' && line.trim().startsWith('.')) {
          if (!(await command(shell, line.trim(), output))) return terminal.close();
          continue;
        }
        text += `${line}\n`;
        const { ended, rest } = statementsIn(text);
        text = rest.sql === '' ? '' : `${rest.sql}\n`;
        for (const statement of ended) await shell.execute(statement);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        print(error.message, output);
      }
    }
    isRunning = false;
    ask();
  };
  print('Query Daybook\'s lake with SQL. ".help" lists the commands.', output);
  ask();
  await new Promise<void>((resolve, reject) => {
    terminal.on('line', (line) => {
      waiting.push(line);
      run().catch(reject);
    });
    terminal.on('close', resolve);
  });
}

/** Runs a dot command. Returns whether the prompt continues. */
async function command(shell: Shell, line: string, output: NodeJS.WritableStream): Promise<boolean> {
  const [word = '', name = ''] = line.split(/\s+/);
  if (word === '.quit' || word === '.exit') return false;
  if (word === '.tables') {
    print(table((await shell.tables()).map((one) => ({ name: one.name, row: one.about }))), output);
  } else if (word === '.schema') {
    const wanted = name.replace(/;$/, '');
    const tables = await shell.tables();
    const found = tables.find((one) => one.name === wanted);
    if (found === undefined)
      throw new UsageError(
        unknownTable(
          wanted,
          tables.map((one) => one.name),
        ),
      );
    print(
      table(
        found.columns.map((column) => ({ column: column.name, type: column.type, comment: column.comment })),
      ),
      output,
    );
  } else if (word === '.help') print(HELP, output);
  else throw new UsageError(`There is no command ${word}: .help lists the commands.`);
  return true;
}

interface Names {
  readonly words: readonly string[];
  /** By table. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
}

/** The words to complete, and the columns of each table and view. */
async function namesOf(shell: Shell): Promise<Names> {
  const tables = await shell.tables();
  // The line editor prints them as they are.
  const columns = new Map(
    tables.map((one) => [printable(one.name), one.columns.map(({ name }) => printable(name))]),
  );
  return { words: [...WORDS, 'COPY', 'CREATE'], columns };
}

/** Completions of the last word of a line: keywords in its case, and names; and that word. */
export function completions(line: string, { words, columns }: Names): [string[], string] {
  const [typed] = /(?<![\w.])[\w.]*$/.exec(line) ?? [''];
  if (typed === '') return [[], typed];
  if (/^\s*\.\w*$/.test(line))
    return [['.tables', '.schema', '.help', '.quit'].filter((word) => word.startsWith(typed)), typed];
  const [, owner, part = ''] = /^(\w+)\.(\w*)$/.exec(typed) ?? [];
  if (owner !== undefined)
    return [
      (columns.get(owner) ?? []).filter((name) => name.startsWith(part)).map((name) => `${owner}.${name}`),
      typed,
    ];
  const isLower = typed === typed.toLowerCase();
  const all = [
    ...columns.keys(),
    ...[...columns.values()].flat(),
    ...words.map((word) => (isLower ? word.toLowerCase() : word)),
  ];
  return [[...new Set(all)].filter((name) => name.startsWith(typed)).sort(), typed];
}

/** Newest line first, as readline expects. */
function readHistory(path: string): string[] {
  try {
    return printable(readFileSync(path, 'utf8')).split('\n').filter(Boolean).slice(0, HISTORY_LINES);
  } catch {
    return [];
  }
}

/** A history that can't be saved is no reason to stop. */
function writeHistory(path: string, history: readonly string[]): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const kept = history.filter((line) => line.length <= HISTORY_CHARACTERS);
    writeFileSync(path, `${kept.join('\n')}\n`, { mode: 0o600 });
    chmodSync(path, 0o600);
  } catch {
    // The next session has no history.
  }
}
