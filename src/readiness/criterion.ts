import { dayOf, MS_PER_DAY } from '../day.js';
import type { Application, Parts } from './application.js';
import type { GitFacts } from './git-facts.js';
import type { Files } from './matching-files.js';
import { MOST } from './readiness-report.js';
import type { Check, Criterion } from './readiness-rules.js';

/** In how many files an expression or key is searched for. */
const SEARCHED_AT_MOST = 50;
/** How many applications a rationale names, with and without. */
const NAMED_AT_MOST = 10;

/** The result of a check: where it holds, or what contradicts it. */
interface Finding {
  readonly holds: boolean;
  readonly what: string;
}

/** The facts that criteria are evaluated with. */
export interface Evidence {
  readonly parts: Parts;
  /** Undefined without a git repository. */
  readonly git: GitFacts | undefined;
  /** Unix milliseconds. */
  readonly now: number;
  /** Results for files that several applications share. */
  readonly known: Map<Check, Finding>;
}

/** The result of a criterion: `numerator` of `denominator` places meet it. */
export interface Evaluated {
  readonly criterion: Criterion;
  readonly numerator: number;
  readonly denominator: number;
  readonly rationale: string;
  /** Paths of the applications that lack it; none for a criterion of the repository. */
  readonly lacking: readonly string[];
}

const ABSENT: Finding = { holds: false, what: '' };

/** Whether a value is set. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}

/** Whether parsed data has a key, such as `scripts.test`; `*` stands for each member, `\.` for a dot. */
function hasKey(data: unknown, key: string, fits: (value: unknown) => boolean): boolean {
  const names = key.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'));
  let values = [data];
  for (const name of names) {
    const members = values.filter((value) => typeof value === 'object' && value !== null) as object[];
    values = members.flatMap((value) =>
      name === '*' ? Object.values(value) : Object.hasOwn(value, name) ? [Reflect.get(value, name)] : [],
    );
  }
  return values.some((value) => isGiven(value) && fits(value));
}

/** A value as text; lists and objects as JSON. A YAML value that contains itself has none. */
function textOf(value: unknown): string {
  try {
    return typeof value === 'string' ? value : JSON.stringify(value);
  } catch {
    return '';
  }
}

/** The files to search, up to the limit. */
function* searched(files: Files, globs: Check['in'] = []): Generator<string> {
  let count = 0;
  for (const path of files.find(globs)) {
    if (count++ >= SEARCHED_AT_MOST) return;
    yield path;
  }
}

/** The result of a check in some files. */
function findingIn(files: Files, check: Check, { git, now }: Evidence): Finding {
  const { tree } = files;
  const { text, key, matches, atLeastBytes = 0 } = check;
  const globs = check.files ?? check.noFiles;
  if (globs !== undefined) {
    const isWanted = check.files !== undefined;
    for (const path of files.find(globs, check.except))
      if (tree.sizeOf(path) >= atLeastBytes) return { holds: isWanted, what: path };
    return { holds: !isWanted, what: isWanted ? '' : 'no such file' };
  }
  if (text !== undefined) {
    for (const path of searched(files, check.in)) {
      const line = tree.line(path, text);
      if (line !== undefined) return { holds: true, what: `${path}, line ${line}` };
    }
    return ABSENT;
  }
  if (key !== undefined) {
    const fits = (value: unknown) => matches === undefined || matches.test(textOf(value));
    for (const path of searched(files, check.in))
      if (hasKey(tree.data(path), key, fits)) return { holds: true, what: `${key} in ${path}` };
    return ABSENT;
  }
  const { committedWithinDays, isTagged } = check.git ?? {};
  if (isTagged === true)
    return git?.newestTag === undefined
      ? ABSENT
      : { holds: true, what: `the newest tag is ${git.newestTag}` };
  if (committedWithinDays === undefined || git?.committedAt === undefined) return ABSENT;
  return {
    holds: now - git.committedAt <= committedWithinDays * MS_PER_DAY,
    what: `the last commit is from ${dayOf(git.committedAt)}`,
  };
}

/** The result of a check in the files of several places together. */
function findingOf(check: Check, places: readonly Files[], evidence: Evidence): Finding {
  const findings = places.map((files) => {
    // Files outside all applications are searched once, not once for each.
    const known = files === evidence.parts.rest ? evidence.known.get(check) : undefined;
    const finding = known ?? findingIn(files, check, evidence);
    if (files === evidence.parts.rest) evidence.known.set(check, finding);
    return finding;
  });
  const decides = findings.find(({ holds }) => holds === (check.noFiles === undefined));
  return decides ?? findings[0] ?? ABSENT;
}

/** Whether a criterion holds in the first place, which has an application's own files, or else in it together with the others. */
function evaluateIn({ any, all }: Criterion, places: readonly Files[], evidence: Evidence): Finding {
  if (all !== undefined) {
    const findings = all.map((check) => findingOf(check, places, evidence));
    const against = findings.find(({ holds }) => !holds);
    return against ?? { holds: true, what: findings.map(({ what }) => what).join(' and ') };
  }
  const [own, ...others] = places;
  const checks = any ?? [];
  const findings: Finding[] = [];
  // Own files say more than shared ones; the absence of files must hold everywhere.
  for (const [check, where] of [
    ...checks.map((check) => [check, own === undefined ? [] : [own]] as const),
    ...checks.map((check) => [check, check.noFiles === undefined ? others : places] as const),
  ]) {
    if (where.length === 0 || (check.noFiles !== undefined && where.length < places.length)) continue;
    const finding = findingOf(check, where, evidence);
    if (finding.holds) return finding;
    findings.push(finding);
  }
  return findings.find(({ what }) => what !== '') ?? ABSENT;
}

/** A sentence about what is missing, with the contradicting file if there is one. */
function missingOf({ missing }: Criterion, { what }: Finding): string {
  return what === '' ? missing : `${missing} (${what})`;
}

function listed(names: readonly string[], separator: string): string {
  const more = names.length - NAMED_AT_MOST;
  return [...names.slice(0, NAMED_AT_MOST), ...(more > 0 ? [`${more} more`] : [])].join(separator);
}

/** The findings in applications, without repetition. */
function grouped(found: readonly { path: string; text: string }[]): string {
  const paths = new Map<string, string[]>();
  for (const { path, text } of found) paths.set(text, [...(paths.get(text) ?? []), path]);
  return listed(
    [...paths].map(([text, names]) => `${listed(names, ', ')}: ${text}`),
    '; ',
  );
}

/** Evaluates a criterion; undefined if it doesn't apply to the repository. */
export function evaluate(criterion: Criterion, evidence: Evidence): Evaluated | undefined {
  const { scope, when, ownFilesOnly } = criterion;
  const { applications, whole, rest } = evidence.parts;
  const isMeant = (files: Files) =>
    when === undefined || when.some((check) => findingOf(check, [files], evidence).holds);
  const sentence = (text: string) => `${text.slice(0, MOST.rationale - 1)}.`;
  if (scope === 'repository') {
    if (!isMeant(whole)) return undefined;
    const finding = evaluateIn(criterion, [whole], evidence);
    return {
      criterion,
      numerator: finding.holds ? 1 : 0,
      denominator: 1,
      rationale: sentence(finding.holds ? finding.what : missingOf(criterion, finding)),
      lacking: [],
    };
  }
  const meant = applications.filter(({ files }) => isMeant(files));
  const found = meant.map(({ path, files }: Application) => {
    const places = ownFilesOnly === true || files === rest ? [files] : [files, rest];
    return { path, finding: evaluateIn(criterion, places, evidence) };
  });
  const [first] = found;
  if (first === undefined) return undefined;
  const having = found.filter(({ finding }) => finding.holds);
  const lacking = found.filter(({ finding }) => !finding.holds);
  const said = (finding: Finding) => (finding.holds ? finding.what : missingOf(criterion, finding));
  const textsOf = (some: typeof found) =>
    some.length === 0 ? [] : [grouped(some.map(({ path, finding }) => ({ path, text: said(finding) })))];
  const texts = applications.length === 1 ? [said(first.finding)] : [...textsOf(having), ...textsOf(lacking)];
  return {
    criterion,
    numerator: having.length,
    denominator: found.length,
    rationale: sentence(texts.join('. ')),
    lacking: lacking.map(({ path }) => path),
  };
}
