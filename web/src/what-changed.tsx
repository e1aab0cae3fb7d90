import { comparedWith, earlierOf, hrefOf, rangeOf, usedIn } from './address.js';
import type { Answers } from './answers.js';
import { analyticsPath, useAnswer, useSettled } from './client.js';
import { change, countOf, daysText, dayText, figure, moved } from './format.js';
import { costMoveOf, isNamed, type KindName, type Mover, Movers, useMovers } from './movers.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { may, type Session } from './session.js';
import { useTotal } from './summary.js';
import { type Step, Waterfall } from './waterfall.js';

type Changes = Answers['getAnalyticsChanges'];
type Row = Changes['data'][number];

/** The steps as the page names them: in full, and for a phone. */
const NAMES: Readonly<Record<Row['step'], readonly [full: string, short: string]>> = {
  before: ['before', 'before'],
  new_teams: ['new data', 'new'],
  people: ['people', 'people'],
  tokens: ['volume per person', 'volume'],
  models: ['model mix', 'mix'],
  prices: ['price', 'price'],
  now: ['now', 'now'],
};

/** A change of less than both, in dollars and as a part of what was before, needs no sentence. */
const SMALL = { usd: 50, share: 0.05 } as const;

interface WhatChangedProps extends RangeProps {
  readonly session: Session;
  readonly span: 8 | 12;
}

/** Why the range costs more or less than the days before: steps that add up to the change, and what moved most. */
export function WhatChanged({ address, last, session, span }: WhatChangedProps) {
  const filters = { ...address.filters, ...address.fixed };
  const asked = useAnswer<Changes>(
    analyticsPath('changes', rangeOf(address, last), { compare: comparedWith(address), ...filters }),
  );
  // A team whose data begin late is a step of every answer, also of one about other people.
  const rows = (asked.answer?.data ?? []).filter(({ step, usd }) => step !== 'new_teams' || usd !== 0);
  const range = useSettled(rangeOf(address, last), asked.isLoading);
  const earlier = useSettled(earlierOf(address, last), asked.isLoading);
  const before = rows.find(({ step }) => step === 'before');
  const now = rows.find(({ step }) => step === 'now');
  const kinds = kindsOf(session).filter((kind) => filters[kind]?.length !== 1);
  const movers = useMovers(address, last, before === undefined ? [] : kinds);
  const used = usedIn(address);
  const names = (step: Row['step']) =>
    step === 'before'
      ? ([daysText(earlier), daysText(earlier)] as const)
      : step === 'now'
        ? ([daysText(range), daysText(range)] as const)
        : NAMES[step];
  const steps = rows.map((row): Step => {
    const [name, short] = names(row.step);
    return { key: row.step, name, short, usd: row.usd };
  });
  const isCompared = before !== undefined && now !== undefined;
  const unpriced = Math.max(before?.unpriced_tokens ?? 0, now?.unpriced_tokens ?? 0);
  return (
    <Panel
      name="what-changed"
      title="What changed"
      note={
        isCompared
          ? `${moved(now.usd - before.usd)} (${change(now.usd, before.usd)}), against ${daysText(earlier)}${used === undefined ? '' : `; sessions that used ${used}`}`
          : undefined
      }
      asked={asked}
      table={
        asked.answer && {
          columns: ['Step', 'Dollars'],
          dollars: ['Dollars'],
          rows: steps.map(({ name, usd }) => [name, usd]),
        }
      }
      definition="report/changes"
      span={span}
      beside={isCompared && <Movers address={address} movers={movers} />}
    >
      {isCompared ? (
        <>
          <Why address={address} last={last} rows={rows} movers={movers} />
          <Waterfall steps={steps} />
          <p class="note">
            {rows.some(({ step }) => step === 'new_teams') &&
              `New data is of teams whose data begin within ${daysText(earlier)}: it can’t be compared. `}
            {unpriced > 0 && `${figure(unpriced, 'count')} tokens without a price are on no side. `}
            <a href={hrefOf({ ...address, path: ['numbers'], choices: {} })}>How it is computed</a>
          </p>
        </>
      ) : (
        <p class="note none">
          {asked.answer === undefined ? '–' : reasonOf(rows, daysText(earlier), session)}
        </p>
      )}
    </Panel>
  );
}

/** What the movers of a reader can be. */
function kindsOf(session: Session): readonly KindName[] {
  if (!may(session, 'read analytics')) return ['repo', 'model'];
  return may(session, 'see people by name')
    ? ['team', 'repo', 'user_id', 'model']
    : ['team', 'repo', 'model'];
}

/** Why nothing is compared, in a line. */
function reasonOf([row]: readonly Row[], earlier: string, session: Session): string {
  if (row === undefined) return 'None in this range.';
  if (row.data_begins !== null) return `Data begins ${dayText(row.data_begins)}: nothing is compared.`;
  return may(session, 'see people by name') || !may(session, 'read analytics')
    ? `Not every day of ${earlier} is built: nothing is compared.`
    : `Not every day of ${earlier} is built, or too few people were active: nothing is compared.`;
}

/** What most of the change is, in a sentence, and who makes half of it. None for a small change. */
function Why({
  address,
  last,
  rows,
  movers,
}: RangeProps & { rows: readonly Row[]; movers: readonly Mover[] }) {
  const total = useTotal(address, last).answer?.data[0];
  const usdOf = (wanted: Row['step']) => rows.find(({ step }) => step === wanted)?.usd ?? 0;
  const all = usdOf('now') - usdOf('before');
  if (Math.abs(all) < SMALL.usd && Math.abs(all) < SMALL.share * usdOf('before')) return null;
  const [largest] = rows
    .filter(({ step }) => step !== 'before' && step !== 'now')
    .sort((one, other) => (other.usd - one.usd) * Math.sign(all));
  if (largest === undefined || all === 0) return null;
  const half = movers
    .filter(({ kind }) => kind === 'team' || kind === 'user_id')
    .flatMap(({ kind, rows }) => rows.map((row) => ({ kind, row })))
    .find(({ row }) => isNamed(row) && costMoveOf(row) / all >= 0.5);
  const model = movers.find(({ kind }) => kind === 'model')?.rows[0];
  return (
    <p class="why">
      {largest.usd / all >= 0.5 ? 'Most of it is ' : 'The largest step is '}
      <b>{NAMES[largest.step][0]}</b>
      {numbersOf(largest, model && total && sharesOf(model, total))}.
      {half !== undefined && (
        <>
          {' '}
          <b>
            <bdi>{half.row.group_key}</bdi>
          </b>{' '}
          makes {moved(costMoveOf(half.row))} of {moved(all)}.
        </>
      )}
    </p>
  );
}

interface Shares {
  readonly model: string;
  readonly now: number;
  readonly before: number;
}

type Tokens = Mover['rows'][number];

/** The share of a model in all tokens, now and before; undefined if it hardly moved. */
function sharesOf(model: Tokens, total: Tokens): Shares | undefined {
  if (model.previous === null || total.previous === null) return undefined;
  const tokens = (row: NonNullable<Tokens['previous']>) =>
    row.input_tokens + row.output_tokens + row.cache_read_tokens + row.cache_write_tokens;
  const now = tokens(model) / Math.max(1, tokens(total));
  const before = tokens(model.previous) / Math.max(1, tokens(total.previous));
  return Math.abs(now - before) < SMALL.share ? undefined : { model: model.group_key ?? '', now, before };
}

/** The numbers behind a step, as the end of a sentence. */
function numbersOf({ step, value, previous_value }: Row, shares: Shares | undefined): string {
  switch (step) {
    case 'people':
      return `: ${figure(value, 'count')} with tokens, ${figure(previous_value, 'count')} before`;
    case 'tokens':
      return `: ${figure(value, 'count')} tokens a person, ${figure(previous_value, 'count')} before`;
    case 'models':
      return shares === undefined
        ? `: a million tokens cost ${figure(value, 'dollars')} at the prices before, ${figure(previous_value, 'dollars')} with the models before`
        : `: ${shares.model} has ${figure(shares.now, 'share')} of tokens, ${figure(shares.before, 'share')} before`;
    case 'prices':
      return `: a million tokens of the same models cost ${figure(value, 'dollars')}, ${figure(previous_value, 'dollars')} before`;
    case 'new_teams':
      return `: ${countOf(value ?? 0, 'team')} whose data begin within the days before`;
    default:
      return '';
  }
}
