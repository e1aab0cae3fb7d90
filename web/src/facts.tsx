import { type ComponentChildren, Fragment } from 'preact';
import { type Address, rangeOf } from './address.js';
import type { Answers } from './answers.js';
import { usePages } from './client.js';
import { type Day, daysOf, lengthOf } from './days.js';
import { countOf, exactly, figure, instantText, nameOf } from './format.js';
import { Panel, type Source } from './panel.js';
import type { QualityProps, QualityRow } from './quality.js';
import { ROWS, type Summary, summaryPath } from './summary.js';

interface FactProps extends Source {
  readonly title: string;
  /** Whether all is well; undefined while it isn't known. */
  readonly isFine: boolean | undefined;
  readonly figure: string;
  readonly of: string;
  readonly children: ComponentChildren;
}

/** One number, whether it is fine, and a sentence about it. */
function Fact({ title, isFine, figure: shown, of, children, ...source }: FactProps) {
  return (
    <Panel
      {...source}
      title={
        <>
          {isFine !== undefined && <i class={isFine ? 'state ok' : 'state warn'} />}
          {title}
        </>
      }
      isTable
      span={3}
    >
      <p class="fact">
        <b>{shown}</b> {of}
      </p>
      <p class="note">{children}</p>
    </Panel>
  );
}

interface FactsProps extends QualityProps {
  readonly status: Answers['getStatus']['data'] | undefined;
  readonly address: Address;
  readonly last: Day;
}

/** The quality of the range's days, as one number per aspect. */
export function Facts({ asked, range, status, address, last }: FactsProps) {
  const { answer } = asked;
  const rows = answer?.data ?? [];
  const sum = (of: (row: QualityRow) => number) => rows.reduce((all, row) => all + of(row), 0);
  const rejected = sum((row) => row.rejected);
  const late = sum((row) => row.late);
  const restated = rows.filter((row) => row.restatements.length > 0).length;
  const at = answer?.meta.data_refreshed_at;
  const count = (value: number) => (answer === undefined ? '–' : figure(value, 'count'));
  const fine = (isFine: boolean) => (answer === undefined ? undefined : isFine);
  const tableOf = (columns: readonly string[], cells: (row: QualityRow) => readonly (string | number)[]) => {
    const byDay = new Map(rows.map((row) => [row.date, row]));
    return (
      answer && {
        columns: ['Day', ...columns],
        rows: daysOf(range).map((day) => {
          const row = byDay.get(day);
          return [day, ...(row === undefined ? columns.map(() => null) : cells(row))];
        }),
      }
    );
  };
  return (
    <>
      <Fact
        name="days-built"
        title="Days built"
        asked={asked}
        table={tableOf(['First built', 'Built'], (row) => [row.first_built_at, row.built_at])}
        definition="daily/quality"
        isFine={status && fine(rows.length === lengthOf(range) && status.days_stale === 0)}
        figure={count(rows.length)}
        of={`of ${lengthOf(range)}`}
      >
        {status?.days_stale === 0 && 'None is stale. '}
        {at && `Last build ${instantText(at)}.`}
      </Fact>
      <Fact
        name="lines-rejected"
        title="Lines rejected"
        asked={asked}
        table={tableOf(['Rejected', 'Accepted'], (row) => [row.rejected, row.accepted])}
        definition="report/quality"
        isFine={fine(rejected === 0)}
        figure={count(rejected)}
        of={`of ${count(sum((row) => row.accepted) + rejected)} ${sum((row) => row.accepted) + rejected === 1 ? 'line' : 'lines'}`}
      >
        {answer !== undefined &&
          (rejected === 0
            ? 'Every line was taken.'
            : 'The reasons are below. The SQL table "rejects" has the place of each line.')}
      </Fact>
      <Fact
        name="days-restated"
        title="Days restated"
        asked={asked}
        table={tableOf(['Late events', 'Changes'], (row) => [row.late, row.restatements.length])}
        definition="report/quality_restatements"
        isFine={fine(restated === 0)}
        figure={count(restated)}
        of={restated === 1 ? 'day' : 'days'}
      >
        {answer !== undefined &&
          (restated === 0
            ? 'No built day has changed.'
            : `${count(late)} ${late === 1 ? 'event' : 'events'} came late.`)}
      </Fact>
      <Unpriced address={address} last={last} />
    </>
  );
}

/** How many models without a price are named. */
const NAMED = 3;

/** The number of tokens that no cost includes. */
function Unpriced({ address, last }: { address: Address; last: Day }) {
  const query = { groupBy: 'model', sort: 'unpriced_tokens', limit: ROWS } as const;
  const asked = usePages<Summary>(summaryPath(rangeOf(address, last), address.filters, query));
  const rows = (asked.answer?.data ?? []).map((row) => ({
    name: row.group_key ?? '',
    unpriced: row.unpriced_tokens,
    all: row.input_tokens + row.output_tokens + row.cache_read_tokens + row.cache_write_tokens,
  }));
  const unpriced = rows.reduce((sum, row) => sum + row.unpriced, 0);
  const all = rows.reduce((sum, row) => sum + row.all, 0);
  const models = rows.filter((row) => row.unpriced > 0);
  return (
    <Fact
      name="unpriced-tokens"
      title="Tokens without a price"
      asked={asked}
      table={
        asked.answer && {
          columns: ['Model', 'Without a price', 'Tokens'],
          rows: rows.map((row) => [row.name, row.unpriced, row.all]),
        }
      }
      definition="report/summary"
      isFine={asked.answer && unpriced === 0}
      figure={asked.answer === undefined ? '–' : exactly(all === 0 ? 0 : unpriced / all, 'share')}
      of="of tokens"
    >
      {asked.answer !== undefined && unpriced === 0 && 'Every cost is complete.'}
      {unpriced > 0 && (
        <>
          Of these models some tokens have no price, and are in no cost; with their share of all tokens:{' '}
          {models.slice(0, NAMED).map((model, index) => (
            <Fragment key={model.name}>
              {index > 0 && ', '}
              <bdi>{nameOf('model', model.name)}</bdi> ({exactly(model.unpriced / all, 'share')})
            </Fragment>
          ))}
          {models.length > NAMED && ` and ${countOf(models.length - NAMED, 'more model')}`}. To fetch newer
          prices, run <code>daybook prices update</code>.
        </>
      )}
    </Fact>
  );
}
