import { z } from 'zod';
import { readProcessConfig } from '../config.js';
import { UsageError } from '../exit.js';
import { type Checked, check } from '../readiness/check.js';
import { type Evaluated, nextSteps } from '../readiness/criterion.js';
import { levelOf, OPENS_NEXT, sharesOf } from '../readiness/level.js';
import { Report, type Submission } from '../readiness/report.js';
import { isRepositoryUrl, withoutCredentials } from '../readiness/repository.js';
import { readCriteria } from '../readiness/rule.js';
import { table } from '../terminal.js';

const TIMEOUT_MS = 30_000;
const STEPS = 3;

export interface CheckOptions {
  readonly rules?: string;
  readonly submit?: boolean;
  readonly repo?: string;
  readonly server?: string;
  readonly key?: string;
  readonly json?: boolean;
}

/** Evaluates the repository of a folder, shows what it found, and sends it to the service when that is wanted. */
export async function checkReadiness(
  path: string,
  options: CheckOptions,
  { clock, print }: { clock: () => number; print: (text: string) => void },
): Promise<void> {
  const criteria = readCriteria(options.rules);
  if (options.repo !== undefined && !isRepositoryUrl(options.repo))
    throw new UsageError('--repo must be an address, as https://github.com/acme/api.');
  const service = options.submit === true ? serviceOf(options) : undefined;
  const checked = await check(path, criteria, clock());
  const submission = {
    ...checked.submission,
    ...(options.repo === undefined ? {} : { repoUrl: withoutCredentials(options.repo) }),
  };
  for (const note of checked.notes) process.stderr.write(`${note}\n`);
  if (service !== undefined && options.repo === undefined && !checked.hasRemote)
    throw new UsageError(
      `The repository ${checked.folder} has no remote origin: name its address with --repo.`,
    );
  print(options.json === true ? JSON.stringify(submission) : shown(checked, submission.repoUrl));
  if (service === undefined) return;
  const report = await submit(service, submission);
  if (options.json !== true) print(`\nThe service has it as report ${report.reportId} of ${report.repoId}.`);
}

interface Service {
  readonly url: string;
  readonly key: string;
}

function serviceOf(options: CheckOptions): Service {
  const { url, key } = readProcessConfig({ DAYBOOK_URL: options.server, DAYBOOK_KEY: options.key });
  if (key === undefined)
    throw new UsageError('Give an API key with --key or DAYBOOK_KEY: "daybook keys create" makes one.');
  return { url, key };
}

/** Sends a report, and answers it as it is kept. Throws a UsageError for a refusal, or when there is no service. */
async function submit({ url, key }: Service, submission: Submission): Promise<Report> {
  const path = new URL('api/organization/maturity-level-reports', url.endsWith('/') ? url : `${url}/`);
  let answer: Response;
  try {
    answer = await fetch(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(submission),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    const { cause = error } = error as { cause?: unknown };
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new UsageError(
      `The service ${url} can't be reached (${why}): start it, or name another with --server or DAYBOOK_URL.`,
    );
  }
  const body: unknown = await answer.json().catch(() => undefined);
  if (answer.ok) return Report.parse(body);
  const { detail = `The service ${url} answered ${answer.status}.` } =
    z.object({ detail: z.string() }).safeParse(body).data ?? {};
  throw answer.status >= 500 ? new Error(detail) : new UsageError(detail);
}

/** What was found, for people. */
function shown({ submission, evaluated }: Checked, repoUrl: string): string {
  const { commitHash, branch, hasLocalChanges, apps } = submission;
  const state = [
    ...(branch === undefined ? [] : [branch]),
    ...(commitHash === undefined ? [] : [commitHash.slice(0, 12)]),
    ...(hasLocalChanges === true ? ['with changes that are not committed'] : []),
  ];
  const paths = Object.keys(apps);
  const steps = nextSteps(evaluated).slice(0, STEPS);
  return [
    [repoUrl, ...state].join(', '),
    paths.length === 1
      ? Object.values(apps)[0]?.description
      : `${paths.length} applications: ${paths.slice(0, 8).join(', ')}${paths.length > 8 ? ', ...' : ''}`,
    '',
    rows(evaluated),
    '',
    levels(evaluated),
    ...(steps.length === 0
      ? []
      : [
          '',
          'Next, the most useful first:',
          ...steps.map(
            ({ criterion, lacking }, index) =>
              `  ${index + 1}. ${criterion.id}: ${criterion.missing}${lacking.length === 0 || paths.length === 1 ? '' : ` in ${lacking.length === 1 ? lacking[0] : `${lacking.length} applications`}`}`,
          ),
        ]),
  ].join('\n');
}

/** A line a criterion; in a terminal none is longer than that is wide. */
function rows(evaluated: readonly Evaluated[]): string {
  const text = table(
    evaluated.map(({ criterion, numerator, denominator, rationale }) => ({
      category: criterion.category,
      level: criterion.level,
      criterion: criterion.id,
      met: denominator === 1 ? (numerator === 1 ? 'yes' : 'no') : `${numerator} of ${denominator}`,
      found: rationale,
    })),
  );
  const { isTTY, columns } = process.stdout;
  if (isTTY !== true) return text;
  const cut = (line: string) => (line.length > columns ? `${line.slice(0, columns - 3)}...` : line);
  return text.split('\n').map(cut).join('\n');
}

function levels(evaluated: readonly Evaluated[]): string {
  const counted = evaluated.map((one) => ({ ...one, level: one.criterion.level }));
  const percent = (share: number) => `${Math.floor(100 * share + 1e-9)} %`;
  const met = [...sharesOf(counted)].map(([level, share]) => `${level} by ${percent(share)}`);
  return `Level ${levelOf(counted)} of 5. Levels are met: ${met.join(', ')}; ${percent(OPENS_NEXT)} of one open the next.`;
}
