import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RE2JS } from 're2js';
import { z } from 'zod';
import { LeftOut, readForeign } from '../disk/foreign-file.js';
import { PACKAGE_ROOT } from '../disk/package-root.js';
import { UsageError } from '../exit.js';
import { compilePattern } from '../input/pattern.js';
import '../input/sentence.js';
import { Glob } from './glob.js';
import { Level } from './maturity-level.js';
import { CriterionId, MOST } from './readiness-report.js';

const RULE_BYTES = 1 << 20;

const GlobText = z
  .string()
  .min(1)
  .max(200)
  .transform((text, context) => {
    try {
      return new Glob(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: String((error as Error).message) });
      return z.NEVER;
    }
  });
const Globs = z.array(GlobText).min(1).max(100);

/** RE2's time is linear in the text, so a rule's expression can't hang the check. */
const Expression = z
  .string()
  .min(1)
  .max(1000)
  .transform((text, context) => {
    try {
      return compilePattern(text, RE2JS.MULTILINE);
    } catch (error) {
      const message = error instanceof RangeError ? error.message : 'must be a regular expression of RE2';
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
  });

const KINDS = ['files', 'noFiles', 'text', 'key', 'git'] as const;
const GOES_WITH: Record<string, readonly (typeof KINDS)[number][]> = {
  atLeastBytes: ['files', 'noFiles'],
  except: ['noFiles'],
  in: ['text', 'key'],
  matches: ['key'],
};

/** One thing to look for: its kind and options. docs/readiness.md describes them. */
const Check = z
  .strictObject({
    files: Globs.optional(),
    noFiles: Globs.optional(),
    text: Expression.optional(),
    key: z.string().min(1).max(200).optional(),
    git: z
      .strictObject({
        committedWithinDays: z.int().min(1).max(36_500).optional(),
        isTagged: z.literal(true).optional(),
      })
      .refine((facts) => Object.keys(facts).length === 1, 'must have committedWithinDays or isTagged')
      .optional(),
    in: Globs.optional(),
    matches: Expression.optional(),
    except: Globs.optional(),
    atLeastBytes: z.int().min(1).optional(),
  })
  .superRefine((check, context) => {
    const refuse = (message: string) => context.addIssue({ code: 'custom', message });
    const kinds = KINDS.filter((kind) => check[kind] !== undefined);
    const [kind] = kinds;
    if (kind === undefined || kinds.length > 1) return refuse(`must have one of ${KINDS.join(', ')}`);
    for (const [name, those] of Object.entries(GOES_WITH))
      if (Object.hasOwn(check, name) && !those.includes(kind)) refuse(`must not have ${name} with ${kind}`);
    if (check.in === undefined && GOES_WITH.in?.includes(kind)) refuse(`must have in with ${kind}`);
  });
export type Check = z.infer<typeof Check>;

const Checks = z.array(Check).min(1).max(50);

/** A criterion: its name, its scope, and what meets it. */
const Criterion = z
  .strictObject({
    id: CriterionId,
    level: Level,
    scope: z.enum(['repository', 'application']),
    description: z.string().min(1).max(300),
    missing: z.string().min(1).max(500),
    when: Checks.optional(),
    any: Checks.optional(),
    all: Checks.optional(),
    ownFilesOnly: z.boolean().optional(),
  })
  .superRefine(({ any, all }, context) => {
    if ((any === undefined) === (all === undefined))
      context.addIssue({ code: 'custom', message: 'must have either any or all' });
  });

const RuleFile = z.strictObject({
  category: z.string().min(1).max(100).default('Own rules'),
  criteria: z
    .array(z.union([z.strictObject({ id: CriterionId, off: z.literal(true) }), Criterion]))
    .min(1)
    .max(MOST.criteria),
});

export type Criterion = z.infer<typeof Criterion> & { readonly category: string };

/** The criteria that Daybook ships, in the order of their categories and levels. */
const FOLDER = join(PACKAGE_ROOT, 'data', 'readiness');

function readRuleFile(path: string): z.infer<typeof RuleFile> {
  let data: unknown;
  try {
    const bytes = readForeign(path, { limitBytes: RULE_BYTES });
    if (bytes === undefined) throw new LeftOut(path, "the file can't be read");
    data = JSON.parse(bytes.toString());
  } catch (error) {
    const unread = error instanceof LeftOut ? error.reason : "the file can't be read";
    const why = error instanceof SyntaxError ? 'they are not JSON' : unread;
    throw new UsageError(`The rules ${path} can't be used: ${why}.`);
  }
  const parsed = RuleFile.safeParse(data);
  if (parsed.success) return parsed.data;
  throw new UsageError(
    `The rules ${path} do not match docs/readiness.md: ${sentenceOf(parsed.error, data)}.`,
  );
}

/** The first mistake in a file, with the id of its criterion. */
function sentenceOf({ issues }: z.ZodError, data: unknown): string {
  let [issue] = issues;
  let path = issue?.path ?? [];
  // An element can be one of two kinds: report mistakes of the kind that it looks like.
  if (issue?.code === 'invalid_union') {
    const element = (data as { criteria: unknown[] }).criteria[Number(path[1])];
    const isOff = typeof element === 'object' && element !== null && Object.hasOwn(element, 'off');
    const own = issue.errors[isOff ? 0 : 1]?.[0];
    if (own !== undefined) {
      path = [...path, ...own.path];
      issue = own as typeof issue;
    }
  }
  const [, index, ...rest] = path;
  const id = (data as { criteria?: { id?: unknown }[] })?.criteria?.[Number(index)]?.id;
  const where = typeof id === 'string' ? [id, ...rest] : path;
  return `${where.join('.') || 'the file'} ${issue?.message}`;
}

let shipped: readonly Criterion[] | undefined;

function shippedCriteria(): readonly Criterion[] {
  shipped ??= readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .flatMap((name) => criteriaOf(join(FOLDER, name)).criteria);
  return shipped;
}

function criteriaOf(path: string): { criteria: Criterion[]; off: Set<string> } {
  const { category, criteria } = readRuleFile(path);
  const ids = new Set<string>();
  for (const { id } of criteria) {
    if (ids.has(id)) throw new UsageError(`The rules ${path} have ${id} twice.`);
    ids.add(id);
  }
  return {
    criteria: criteria.flatMap((one) => ('off' in one ? [] : [{ ...one, category }])),
    off: new Set(criteria.flatMap((one) => ('off' in one ? [one.id] : []))),
  };
}

/** The criteria that Daybook ships, by their ids. */
export function shippedById(): ReadonlyMap<string, Pick<Criterion, 'level' | 'description'>> {
  return new Map(shippedCriteria().map((criterion) => [criterion.id, criterion]));
}

/**
 * The criteria to check: the shipped ones, with those of a file added or replacing the ones with the same ids. Throws a UsageError that
 * names the mistake in the file.
 */
export function readCriteria(path?: string): Criterion[] {
  if (path === undefined) return [...shippedCriteria()];
  const own = criteriaOf(path);
  const all = new Map(shippedCriteria().map((criterion) => [criterion.id, criterion]));
  for (const id of own.off) {
    if (!all.delete(id))
      throw new UsageError(`The rules ${path} turn off ${id}, but there is no such criterion.`);
  }
  for (const criterion of own.criteria) all.set(criterion.id, criterion);
  if (all.size > MOST.criteria)
    throw new UsageError(
      `With the rules ${path} there are more than ${MOST.criteria} criteria: turn some off.`,
    );
  return [...all.values()];
}
