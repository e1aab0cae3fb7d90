import { UsageError } from '../exit.js';
import { withoutCredentials } from '../network/url-credentials.js';
import type { Evaluated } from '../readiness/criterion.js';
import { levelOf, nextSteps, OPENS_NEXT, sharesOf } from '../readiness/maturity-level.js';
import { readCriteria } from '../readiness/readiness-rules.js';
import { type Checked, check } from '../readiness/repository-check.js';
import { isRepositoryUrl } from '../readiness/repository-url.js';
import { table } from '../terminal/terminal.js';
import { note, print } from './program.js';
import { RemoteService } from './remote-service.js';

const STEPS = 3;

export interface CheckOptions {
  readonly rules?: string;
  readonly submit?: boolean;
  readonly repo?: string;
  readonly json?: boolean;
}

/** Evaluates a folder's repository, shows the result, and sends it to the service if that is wanted. */
export async function checkReadiness(
  path: string,
  options: CheckOptions,
  clock: () => number,
): Promise<void> {
  const criteria = readCriteria(options.rules);
  if (options.repo !== undefined && !isRepositoryUrl(options.repo))
    throw new UsageError('--repo must be an address such as https://github.com/acme/api.');
  const service = options.submit === true ? RemoteService.of(options, clock) : undefined;
  const checked = await check(path, criteria, clock());
  const submission = {
    ...checked.submission,
    ...(options.repo === undefined ? {} : { repoUrl: withoutCredentials(options.repo) }),
  };
  for (const sentence of checked.notes) note(sentence);
  if (service !== undefined && options.repo === undefined && !checked.hasRemote)
    throw new UsageError(
      `The repository ${checked.folder} has no remote origin: give its address with --repo.`,
    );
  print(options.json === true ? JSON.stringify(submission) : shown(checked, submission.repoUrl));
  if (service === undefined) return;
  const report = await service.submitReport(submission);
  if (options.json !== true)
    print(`\nThe service stored it as report ${report.reportId} of ${report.repoId}.`);
}

/** The result as text. */
function shown({ submission, evaluated }: Checked, repoUrl: string): string {
  const { commitHash, branch, hasLocalChanges, apps } = submission;
  const state = [
    ...(branch === undefined ? [] : [branch]),
    ...(commitHash === undefined ? [] : [commitHash.slice(0, 12)]),
    ...(hasLocalChanges === true ? ['with uncommitted changes'] : []),
  ];
  const paths = Object.keys(apps);
  const steps = nextSteps(leveled(evaluated)).slice(0, STEPS);
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
          'Next steps, most useful first:',
          ...steps.map(
            ({ criterion, lacking }, index) =>
              `  ${index + 1}. ${criterion.id}: ${criterion.missing}${lacking.length === 0 || paths.length === 1 ? '' : ` in ${lacking.length === 1 ? lacking[0] : `${lacking.length} applications`}`}`,
          ),
        ]),
  ].join('\n');
}

/** One line per criterion, not wider than the terminal. */
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

function leveled(evaluated: readonly Evaluated[]) {
  return evaluated.map((one) => ({ ...one, level: one.criterion.level }));
}

function levels(evaluated: readonly Evaluated[]): string {
  const counted = leveled(evaluated);
  const percent = (share: number) => `${Math.floor(100 * share + 1e-9)} %`;
  const met = [...sharesOf(counted)].map(([level, share]) => `${level} by ${percent(share)}`);
  return `Level ${levelOf(counted)} of 5. Criteria met by level: ${met.join(', ')}. ${percent(OPENS_NEXT)} of a level reach the next one.`;
}
