import * as Plot from '@observablehq/plot';
import { own } from '../../../src/input/own.js';
import { type Address, go, hrefOf, SERVER } from '../address.js';
import type { Answers, ReadinessReport, RepositoryReadiness } from '../answers.js';
import { useFresh, withQuery } from '../client.js';
import { addDays, type Day, daysOf } from '../days.js';
import { Drawing } from '../drawing.js';
import { dayText, exactly, figure, instantText, nameOf, UNKNOWN } from '../format.js';
import type { PageProps } from '../page-props.js';
import { Paging } from '../paging.js';
import { Answered, Code, Panel } from '../panel.js';
import { may, type Session } from '../session.js';

/** How many reports the chart of a repository shows. */
const REPORTS = 100;
const PAGE = 25;

const LEVELS = [1, 2, 3, 4, 5];
/** The height of the chart of levels, in pixels. */
const HEIGHT = 160;
/** The share of a level's criteria that opens the next: docs/readiness.md. */
const OPENS_NEXT = 0.8;

/** Repositories by readiness, and one of them over time, with the criteria that raise its level. */
export function Readiness({ address, session }: PageProps) {
  const cursors = address.choices.after?.split(',') ?? [];
  const asked = useFresh<Answers['getOrganizationRepositories']>(
    withQuery('api/organization/repositories', { limit: PAGE + 1, startAfter: cursors.at(-1) }),
  );
  const turn = (cursors: readonly string[]) => {
    const { after: _, repository: __, ...choices } = address.choices;
    go({ ...address, choices: cursors.length === 0 ? choices : { ...choices, after: cursors.join(',') } });
  };
  return (
    <Answered asked={asked}>
      {({ repositories: found }) => {
        // The extra row only tells whether there is another page.
        const repositories = found.slice(0, PAGE);
        if (repositories.length === 0 && cursors.length === 0) return <None session={session} />;
        const chosen =
          repositories.find(({ repoId }) => repoId === address.choices.repository) ?? repositories[0];
        const next = asked.isLoading || found.length <= PAGE ? undefined : repositories.at(-1)?.repoId;
        return (
          <div class="panels loose">
            <section class="panel span-4" aria-labelledby="repositories-title">
              <header>
                <h2 id="repositories-title">Repositories</h2>
                <p class="note">level of the newest report, and its change</p>
              </header>
              <List repositories={repositories} chosen={chosen} address={address} />
              <Paging cursors={cursors} next={next} turn={turn} />
            </section>
            {chosen !== undefined && (
              <div class="panel-stack span-8">
                <OverTime key={chosen.repoId} repository={chosen} />
                <NextSteps repository={chosen} />
                <Met report={chosen.latestReport} />
              </div>
            )}
          </div>
        );
      }}
    </Answered>
  );
}

function None({ session }: { session: Session }) {
  return (
    <section class="panel">
      <h2>No repository was checked yet</h2>
      <p>
        The check looks at files and asks git. It uses no model, runs nothing of the repository, and takes
        seconds.
      </p>
      <Code
        text={`npm install -g ${SERVER}/collector.tgz\ndaybook readiness check ~/code/api --submit --server ${SERVER}`}
      />
      {!may(session, 'submit readiness reports') && (
        <p class="note">Your role may only read reports: a member of the organization can send them.</p>
      )}
    </section>
  );
}

function List({
  repositories,
  chosen,
  address,
}: {
  repositories: readonly RepositoryReadiness[];
  chosen: RepositoryReadiness | undefined;
  address: Address;
}) {
  return (
    <table class="things">
      <thead>
        <tr>
          <th scope="col">Repository</th>
          <th scope="col" class="number">
            Level
          </th>
          <th scope="col" class="number">
            Change
          </th>
        </tr>
      </thead>
      <tbody>
        {repositories.map(({ repoId, repoUrl, level, change }) => (
          <tr key={repoId}>
            <th scope="row" class="named">
              <a
                href={hrefOf({ ...address, choices: { ...address.choices, repository: repoId } })}
                aria-current={repoId === chosen?.repoId ? 'true' : undefined}
                title={repoUrl}
              >
                <bdi>{nameOf('repo', repoUrl)}</bdi>
              </a>
            </th>
            <td class="number strong">{level ?? UNKNOWN}</td>
            <td class="number">{changeText(change)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function changeText(change: RepositoryReadiness['change']): string {
  if (change === null) return 'new';
  if (change.level === null) return UNKNOWN;
  return change.level > 0 ? `+${change.level}` : change.level < 0 ? `−${-change.level}` : '±0';
}

/** How many of a report's criteria are met, counting applications by their share. */
function metOf({ report }: ReadinessReport): number {
  return Object.values(report).filter(({ numerator, denominator }) => numerator === denominator).length;
}

function OverTime({ repository: { repoId, repoUrl } }: { repository: RepositoryReadiness }) {
  const asked = useFresh<Answers['getOrganizationMaturityLevelReports']>(
    withQuery('api/organization/maturity-level-reports', { repoId, limit: REPORTS }),
  );
  const reports = [...(asked.answer?.reports ?? [])].reverse();
  const table = asked.answer && {
    columns: ['Report', 'Level', 'Criteria met', 'Criteria', 'Commit', 'Branch'],
    rows: reports.map((report) => [
      instantText(report.createdAt),
      report.level,
      metOf(report),
      Object.keys(report.report).length,
      report.commitHash?.slice(0, 12) ?? null,
      report.branch ?? null,
    ]),
  };
  return (
    <Panel
      name="readiness-over-time"
      title={<bdi title={repoUrl}>{nameOf('repo', repoUrl)}</bdi>}
      note={`level by report${reports.length === REPORTS ? `, the newest ${REPORTS}` : ''}, UTC`}
      asked={asked}
      table={table}
      span={12}
    >
      {reports.length > 0 && (
        <Drawing draw={(width) => drawLevels(reports, width)} of={[asked.answer]} height={HEIGHT} />
      )}
    </Panel>
  );
}

function drawLevels(reports: readonly ReadinessReport[], width: number): Element {
  const points = reports.map(({ createdAt, level }) => ({ at: new Date(createdAt), level }));
  const dayOf = (at: Date | undefined): Day => (at ?? new Date()).toISOString().slice(0, 10);
  // The axis has whole days.
  const range = { from: dayOf(points[0]?.at), to: dayOf(points.at(-1)?.at) };
  const days = daysOf(range);
  const step = Math.ceil(days.length / Math.max(1, width / 80));
  const domain = [new Date(range.from), new Date(addDays(range.to, 1))];
  return Plot.plot({
    className: 'plot',
    width,
    height: HEIGHT,
    marginLeft: 24,
    marginRight: 12,
    marginTop: 12,
    marginBottom: 24,
    x: { type: 'utc', domain, axis: null },
    y: { domain: [0.5, 5.5], axis: null },
    marks: [
      Plot.ruleY(LEVELS, { stroke: 'var(--grid)' }),
      Plot.lineY(points, {
        x: 'at',
        y: 'level',
        stroke: 'var(--accent)',
        strokeWidth: 1.5,
        curve: 'step-after',
      }),
      Plot.dot(points, { x: 'at', y: 'level', fill: 'var(--accent)', r: 3 }),
      Plot.axisY(LEVELS, { tickSize: 0, fill: 'var(--ink-3)', label: null, tickFormat: String }),
      Plot.text(
        days.filter((_, index) => index % step === 0),
        {
          x: (day) => new Date(day),
          text: dayText,
          ...{ frameAnchor: 'bottom', textAnchor: 'start', dy: 16, fill: 'var(--ink-3)' },
        },
      ),
    ],
  });
}

/** A sentence about what the next level needs. */
function leadOf({ level, metByLevel, nextSteps }: RepositoryReadiness): string {
  if (level === null) return 'No criterion of this report has a level.';
  if (nextSteps.length === 0) return 'Every criterion is met.';
  const of = metByLevel.find((one) => one.level === level);
  if (level === 5 || of === undefined)
    return `The repository has reached level ${level}. These criteria are left.`;
  // The tolerance absorbs rounding errors of shares such as thirds.
  const missing = Math.ceil((OPENS_NEXT - of.ratio) * of.criteria - 1e-9);
  const criteria = of.criteria === 1 ? 'only criterion' : `${of.criteria} criteria`;
  return `${exactly(of.ratio, 'share')} of the ${criteria} of level ${level} ${of.criteria === 1 ? 'is' : 'are'} met, and ${figure(OPENS_NEXT, 'share')} open level ${level + 1}: ${missing} more ${missing === 1 ? 'is' : 'are'} enough.`;
}

function NextSteps({ repository }: { repository: RepositoryReadiness }) {
  const { level, nextSteps, latestReport } = repository;
  return (
    <section class="panel" aria-labelledby="steps-title" data-list="next-steps">
      <header>
        <h2 id="steps-title">What raises the level</h2>
        <p class="note">most useful first</p>
      </header>
      <p>{leadOf(repository)}</p>
      <ol class="criteria">
        {nextSteps.map(({ id, level: of, description }) => {
          const found = own(latestReport.report, id);
          return (
            <li key={id} class={of === level ? 'first' : ''} data-criterion={id}>
              <b>{description ?? id}</b>{' '}
              <span class="note">
                level {of}
                {found !== undefined &&
                  found.denominator > 1 &&
                  `, ${found.numerator} of ${found.denominator} applications`}
              </span>
              <p>
                <bdi>{found?.rationale}</bdi>
              </p>
            </li>
          );
        })}
      </ol>
      <p class="note">“daybook readiness check --submit” in the repository stores the next report.</p>
    </section>
  );
}

function Met({ report: { report, apps, createdAt, branch } }: { report: ReadinessReport }) {
  const met = Object.entries(report).filter(([, { numerator, denominator }]) => numerator === denominator);
  const names = Object.keys(apps);
  return (
    <details class="panel fold">
      <summary>
        {met.length} of {Object.keys(report).length} criteria are met
      </summary>
      <p class="note">
        Report of {instantText(createdAt)}
        {branch !== undefined && `, branch ${branch}`}, {names.length}{' '}
        {names.length === 1 ? 'application' : 'applications'}: <bdi>{names.slice(0, 8).join(', ')}</bdi>
        {names.length > 8 && ', …'}
      </p>
      <ul class="criteria">
        {met.map(([id, { rationale }]) => (
          <li key={id}>
            <b>{id}</b>
            <p>
              <bdi>{rationale}</bdi>
            </p>
          </li>
        ))}
      </ul>
    </details>
  );
}
