import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One file of sql/ with one thing changed. */
export interface Mutant {
  /** The path below sql/. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly before: string;
  readonly after: string;
  readonly text: string;
}

/**
 * What is mutated: the definitions, the answers, and which events count. Not day_quality, which no number is made from: what
 * arrived isn't in the events, so the oracle can't know it.
 */
export function mutatedFiles(sql: string): string[] {
  const files = (folder: string) => readdirSync(join(sql, folder)).map((file) => `${folder}/${file}`);
  const isView = (file: string) =>
    file !== 'schema/day_quality.sql' &&
    readFileSync(join(sql, file), 'utf8').includes('CREATE OR REPLACE VIEW');
  return [
    ...files('daily').sort(),
    ...files('report').sort(),
    ...files('answer').sort(),
    'engine/duckdb.sql',
    ...files('function').sort(),
    ...files('schema').filter(isView).sort(),
    'ingest/losers.sql',
    'build/moved_starts.sql',
  ];
}

/** A change of a piece of code: what is found, and what takes its place. */
type Change = [found: RegExp, ...replacements: string[]];

const CHANGES: Change[] = [
  [/\bsum\(/g, 'max('],
  [/\bmax\(/g, 'min('],
  [/\bmin\(/g, 'max('],
  [/\bcount\(\*\)/g, 'max(1)'],
  [/\bcount\(DISTINCT /g, 'count('],
  [/(?<!MACRO )\bp50\(/g, 'p90('],
  [/(?<!MACRO )\bp90\(/g, 'p50('],
  [/\bSELECT DISTINCT\b/g, 'SELECT'],
  [/ DESC\b/g, ''],
  [/ NULLS LAST\b/g, ' NULLS FIRST'],
  [/ = /g, ' <> '],
  [/ <> /g, ' = '],
  [/ < /g, ' <= ', ' > '],
  [/ <= /g, ' < ', ' > '],
  [/ > /g, ' >= ', ' < '],
  [/ >= /g, ' > ', ' < '],
  [/(\S+) BETWEEN (\S+) AND (\S+)/g, '$1 > $2 AND $1 <= $3', '$1 >= $2 AND $1 < $3'],
  [/\bAND\b/g, 'OR'],
  [/\bOR\b(?! REPLACE)/g, 'AND'],
  [/\bLEFT JOIN\b/g, 'JOIN'],
  [/\bFULL JOIN\b/g, 'LEFT JOIN', 'RIGHT JOIN'],
  [/\bUNION ALL\b/g, 'UNION'],
  [/\bUNION\b(?! ALL)/g, 'UNION ALL'],
  [/\bIS NOT NULL\b/g, 'IS NULL'],
  [/\bIS NULL\b/g, 'IS NOT NULL'],
  [/\bNOT IN \(/g, 'IN ('],
  [/(?<!NOT) IN \(/g, ' NOT IN ('],
  [/\bNOT (?=\w+\()/g, ''],
  [/\bIS DISTINCT FROM\b/g, 'IS NOT DISTINCT FROM'],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/ \* /g, ' + '],
  [/ \/ /g, ' * '],
  [/ \/\/ /g, ' * '],
  [/\blower\(/g, '('],
  [/\bstripped\(/g, '('],
  [/\bfloor\(/g, 'ceil('],
  [/\+\?/g, '+'],
  [/'(\(\?s\))?\^/g, "'$1"],
  [/\(\?s\)/g, ''],
  [/\$'/g, "'"],
  [/\.\+/g, '.*'],
  [/'(\w[\w -]*)'/g, "'$1~'"],
  [/''/g, "'~'"],
];

/** The code of a line, without its comment. No text in these files has two hyphens. */
function codeOf(line: string): string {
  return line.replace(/--.*$/, '').trimEnd();
}

/** Where the parenthesis that opens at an index closes, and the commas between its parts. */
function parts(code: string, open: number): { end: number; texts: string[] } | undefined {
  const texts: string[] = [];
  let depth = 0;
  let start = open + 1;
  let isText = false;
  for (let index = open; index < code.length; index += 1) {
    const character = code[index];
    if (character === "'") isText = !isText;
    if (isText) continue;
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if ((character === ',' && depth === 1) || depth === 0) {
      texts.push(code.slice(start, index).trim());
      start = index + 1;
    }
    if (depth === 0) return { end: index, texts };
  }
  return undefined;
}

/** What one line can become by itself. */
function changedLines(code: string): string[] {
  const changed: string[] = [];
  for (const [found, ...replacements] of CHANGES) {
    for (const match of code.matchAll(found)) {
      for (const replacement of replacements) {
        const piece = match[0].replace(new RegExp(found.source), replacement);
        changed.push(code.slice(0, match.index) + piece + code.slice(match.index + match[0].length));
      }
    }
  }
  for (const match of code.matchAll(/(?<![\w.$'])\d+(\.\d+)?(?![\w'])/g)) {
    const more = match[1] === undefined ? String(Number(match[0]) + 1) : (Number(match[0]) + 0.1).toFixed(1);
    changed.push(code.slice(0, match.index) + more + code.slice(match.index + match[0].length));
  }
  for (const match of code.matchAll(/\b(coalesce|nullif)\(/g)) {
    const call = parts(code, match.index + match[0].length - 1);
    if (call === undefined) continue;
    const rest = code.slice(call.end + 1);
    const before = code.slice(0, match.index);
    if (call.texts.length === 2) changed.push(`${before}${call.texts[0]}${rest}`);
    else
      for (const gone of call.texts.keys())
        changed.push(
          `${before}${match[0]}${call.texts.filter((_, index) => index !== gone).join(', ')})${rest}`,
        );
  }
  for (const match of code.matchAll(/ FILTER \(/g)) {
    const filter = parts(code, match.index + match[0].length - 1);
    if (filter !== undefined) changed.push(code.slice(0, match.index) + code.slice(filter.end + 1));
  }
  // Keys of an order or a partition that stand on one line.
  for (const match of code.matchAll(/\b(ORDER|PARTITION|GROUP) BY ([^()]+?)(?=\)|$)/g)) {
    const keys = (match[2] ?? '').split(', ');
    const put = (list: string[]) => changed.push(code.replace(match[0], `${match[1]} BY ${list.join(', ')}`));
    for (const [index, key] of keys.entries()) {
      if (keys.length > 1) put(keys.filter((_, other) => other !== index));
      if (match[1] === 'ORDER' && !/ DESC|NULLS/.test(key))
        put(keys.map((one, other) => (other === index ? `${one} DESC` : one)));
    }
  }
  return changed;
}

/** The clause that each line stands in, as its first words say. */
function clausesOf(lines: readonly string[]): string[] {
  let clause = '';
  return lines.map((line) => {
    const [words] =
      /^\s*(SELECT|FROM|WHERE|GROUP BY|ORDER BY|PARTITION BY|QUALIFY|HAVING|JOIN|LEFT JOIN|UNION|CASE)\b/.exec(
        line,
      ) ?? [];
    const before = clause;
    if (words !== undefined) clause = words.trim();
    if (/^\s*\)/.test(line)) clause = '';
    return words === undefined ? clause : before === '' ? clause : clause;
  });
}

/** All mutants of one file. */
export function mutantsOf(sql: string, file: string): Mutant[] {
  const text = readFileSync(join(sql, file), 'utf8');
  const lines = text.split('\n');
  const clauses = clausesOf(lines);
  const mutants = new Map<string, Mutant>();
  const add = (index: number, changed: readonly string[], after: string) => {
    const mutated = changed.join('\n');
    if (mutated === text || mutants.has(mutated)) return;
    mutants.set(mutated, {
      file,
      line: index + 1,
      before: (lines[index] ?? '').trim(),
      after,
      text: mutated,
    });
  };
  const put = (index: number, line: string) => add(index, lines.with(index, line), line.trim());
  const drop = (index: number, more: (rest: string[]) => void = () => {}) => {
    const rest = [...lines];
    rest[index] = '';
    more(rest);
    add(index, rest, '(dropped)');
  };
  for (const [index, line] of lines.entries()) {
    const code = codeOf(line);
    if (code.trim() === '') continue;
    for (const changed of changedLines(code)) put(index, changed);
    const isWhole = [...code].filter((c) => c === '(').length === [...code].filter((c) => c === ')').length;
    const next = codeOf(lines[index + 1] ?? '');
    if (/^\s*(AND|OR|HAVING|WHEN)\b/.test(code) && isWhole) drop(index);
    if (/^\s*(WHERE|ON)\b/.test(code) && isWhole) {
      const word = code.trim().split(' ')[0] ?? '';
      if (/^\s*(AND|OR) /.test(next))
        drop(index, (rest) => {
          rest[index + 1] = next.replace(/AND|OR/, word);
        });
      else if (word === 'WHERE') drop(index);
    }
    if (['GROUP BY', 'ORDER BY', 'PARTITION BY'].includes(clauses[index] ?? '') && !/ BY\b/.test(code)) {
      if (clauses[index] === 'ORDER BY' && /^\s+[\w.]+,?$/.test(code))
        put(index, code.replace(/(,?)$/, ' DESC$1'));
      if (isWhole) {
        if (code.endsWith(',')) drop(index);
        else
          drop(index, (rest) => {
            rest[index - 1] = (rest[index - 1] ?? '').replace(/,\s*$/, '');
          });
      }
    }
    if (clauses[index] === 'SELECT') {
      const element = /^(\s+)(.+?)(?: AS (\w+))?(,?)$/;
      const own = element.exec(code);
      const sibling = element.exec(next);
      const typeOf = (expression = '') => /^CAST\(.* AS (\w+)\)$/.exec(expression)?.[1];
      if (
        own !== null &&
        sibling !== null &&
        own[1] === sibling[1] &&
        typeOf(own[2]) === typeOf(sibling[2]) &&
        !/SELECT/.test(code)
      ) {
        put(index, `${own[1]}${sibling[2]} AS ${own[3] ?? own[2]}${own[4]}`);
      }
    }
  }
  return [...mutants.values()];
}
