import * as Plot from '@observablehq/plot';
import { useEffect, useRef } from 'preact/hooks';
import { rangeOf } from './address.js';
import type { Answers } from './answers.js';
import { BarList } from './bar-list.js';
import { type Asked, useAnswer, withQuery } from './client.js';
import { useWidth } from './day-chart.js';
import { type Day, daysOf, lengthOf, type Range, weekday } from './days.js';
import { Empty } from './empty.js';
import { cell, dayText, exactly, figure, instantText, weekdayText } from './format.js';
import type { PageProps } from './page-props.js';
import { Panel } from './panel.js';
import { RangeHead } from './range-head.js';
import { useSummary } from './summary.js';

type Quality = Answers['getAnalyticsQuality'];
type Agents = { data: Extract<Answers['getAnalyticsActivity']['data'][number], { group_key: string }>[] };

/** How far the numbers of the other pages can be trusted. */
export function Trust({ address, session }: PageProps) {
  const last = session.days.last;
  const range = last === null ? undefined : rangeOf(address, last);
  const asked = useAnswer<Quality>(
    range && withQuery('api/v1/analytics/quality', { startDate: range.from, endDate: range.to }),
  );
  if (last === null || range === undefined) return <Empty session={session} />;
  const unfiltered = { ...address, filters: {} };
  return (
    <>
      <RangeHead address={unfiltered} session={session} last={last} title="Trust" isUnfiltered />
      <div class="panels">
        <Facts asked={asked} range={range} address={unfiltered} last={last} />
        <Reports range={range} />
        <Reasons asked={asked} />
        <Restated asked={asked} />
      </div>
    </>
  );
}

interface QualityProps {
  readonly asked: Asked<Quality>;
}

function Facts({
  asked,
  range,
  address,
  last,
}: QualityProps & { range: Range; address: PageProps['address']; last: Day }) {
  const status = useAnswer<Answers['getStatus']>('api/v1/status').answer?.data;
  const total = useSummary(address, last, { compare: 'previous' }).answer?.data[0];
  const rows = asked.answer?.data ?? [];
  const sum = (of: (row: Quality['data'][number]) => number) => rows.reduce((all, row) => all + of(row), 0);
  const rejected = sum((row) => row.rejected);
  const restated = rows.filter((row) => row.restatements.length > 0).length;
  const at = asked.answer?.meta.data_refreshed_at;
  const tokens =
    total === undefined
      ? undefined
      : total.input_tokens + total.output_tokens + total.cache_read_tokens + total.cache_write_tokens;
  const isKnown = asked.answer !== undefined;
  const facts: readonly (readonly [
    name: string,
    isFine: boolean,
    figure: string,
    of: string,
    sentence: string,
  ])[] = [
    [
      'Days built',
      rows.length === lengthOf(range) && status?.days_stale === 0,
      isKnown ? exactly(rows.length, 'count') : '–',
      `of ${lengthOf(range)}`,
      `${status === undefined ? '' : status.days_stale === 0 ? 'None is stale.' : `${exactly(status.days_stale, 'count')} wait for a build, the oldest ${dayText(status.oldest_stale_day ?? last)}.`}${at ? ` Last build ${instantText(Date.parse(at))}.` : ''}`,
    ],
    [
      'Lines rejected',
      rejected === 0,
      isKnown ? figure(rejected, 'count') : '–',
      `of ${figure(sum((row) => row.events) + rejected, 'count')} lines`,
      rejected === 0
        ? 'Every line was taken.'
        : 'Their reasons are below; "daybook status" has their places.',
    ],
    [
      'Days restated',
      restated === 0,
      isKnown ? figure(restated, 'count') : '–',
      'days',
      restated === 0
        ? 'No built day has changed.'
        : `${figure(
            sum((row) => row.late),
            'count',
          )} events came late.`,
    ],
    [
      'Tokens without a price',
      total?.unpriced_tokens === 0,
      tokens ? exactly((total?.unpriced_tokens ?? 0) / tokens, 'share') : '–',
      'of tokens',
      total?.unpriced_tokens === 0
        ? 'Every cost is complete.'
        : 'They count as tokens; no cost includes them.',
    ],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, isFine, value, of, sentence]) => (
        <div key={name}>
          <dt>
            <i class={isFine ? 'state ok' : 'state warn'} />
            {name}
          </dt>
          <dd>
            <b>{value}</b> {of}
            <p class="note">{sentence}</p>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** How many agents that fell silent are named. */
const SILENT = 5;

/** Which agent reported on which day. */
function Reports({ range }: { range: Range }) {
  const silent = useAnswer<Answers['getStatus']>('api/v1/status').answer?.data.silent_agents ?? [];
  const asked = useAnswer<Agents>(
    withQuery('api/v1/analytics/activity', { startDate: range.from, endDate: range.to, group_by: 'agent' }),
  );
  const [holder, width] = useWidth();
  const drawing = useRef<HTMLDivElement>(null);
  const days = daysOf(range);
  const agents = new Map<string, Map<Day, number>>();
  for (const { group_key, date, daily_active_users } of asked.answer?.data ?? []) {
    const of = agents.get(group_key) ?? new Map<Day, number>();
    agents.set(group_key, of.set(date, daily_active_users));
  }
  const names = [...agents.keys()].sort();
  useEffect(() => {
    if (width > 0) drawing.current?.replaceChildren(drawCells(names, agents, days, width));
  }, [width, asked.answer]);
  return (
    <Panel
      name="who-reports"
      title="Who reports"
      note="people by agent and day, each row on its own scale"
      asked={asked}
      table={
        asked.answer && {
          columns: ['Day', ...names.map((name) => name || 'not known')],
          rows: days.map((day) => [day, ...names.map((name) => agents.get(name)?.get(day) ?? null)]),
        }
      }
      definition="daily/user_agents"
      span={12}
    >
      <div ref={holder}>
        <div ref={drawing} style={{ minHeight: 24 * names.length + 28 }} />
      </div>
      {silent.length > 0 && (
        <p class="note">
          <i class="state" />
          No longer reporting:{' '}
          {silent
            .slice(0, SILENT)
            .map(
              ({ user_id, agent, last_day }) =>
                `${agent || 'an agent'} of ${user_id} since ${dayText(last_day)}`,
            )
            .join(', ')}
          {silent.length > SILENT && `, and ${silent.length - SILENT} more ("daybook status" lists all)`}
        </p>
      )}
    </Panel>
  );
}

function drawCells(
  names: readonly string[],
  agents: ReadonlyMap<string, ReadonlyMap<Day, number>>,
  days: readonly Day[],
  width: number,
): Element {
  const cells = names.flatMap((name) => {
    const of = agents.get(name);
    const most = Math.max(1, ...(of?.values() ?? []));
    return days.map((day) => ({ name: name || 'not known', day, share: (of?.get(day) ?? 0) / most }));
  });
  const mondays = days.filter((day) => weekday(day) === 1);
  const step = Math.ceil(mondays.length / Math.max(1, (width - 128) / 56));
  const plot = Plot.plot({
    className: 'plot',
    width,
    height: 24 * names.length + 28,
    marginLeft: 128,
    marginRight: 0,
    marginTop: 0,
    marginBottom: 28,
    x: { type: 'band', domain: [...days], padding: 0, round: false, axis: null },
    y: {
      type: 'band',
      domain: names.map((name) => name || 'not known'),
      padding: 0,
      round: false,
      axis: null,
    },
    marks: [
      Plot.cell(cells, { x: 'day', y: 'name', fill: 'var(--sunken)', inset: 1, rx: 2 }),
      Plot.cell(
        cells.filter(({ share }) => share > 0),
        {
          ...{ x: 'day', y: 'name', fill: 'var(--accent)', inset: 1, rx: 2 },
          fillOpacity: ({ share }: { share: number }) => 0.2 + 0.8 * Math.sqrt(share),
        },
      ),
      Plot.axisY({ tickSize: 0, fill: 'var(--ink)', label: null, fontSize: 12 }),
      Plot.axisX(
        mondays.filter((_, index) => index % step === 0),
        { tickSize: 0, tickFormat: dayText, fill: 'var(--ink-3)', label: null },
      ),
    ],
    opacity: { type: 'identity' },
  });
  for (const style of plot.querySelectorAll('style')) style.remove();
  plot.setAttribute('aria-hidden', 'true');
  return plot;
}

function Reasons({ asked }: QualityProps) {
  const reasons = new Map<string, number>();
  for (const { rejected_by_reason } of asked.answer?.data ?? [])
    for (const { reason, count } of rejected_by_reason)
      reasons.set(reason, (reasons.get(reason) ?? 0) + count);
  const rows = [...reasons].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
  return (
    <Panel
      name="rejects"
      title="Rejected, by reason"
      asked={asked}
      isTable
      table={
        asked.answer && { columns: ['Reason', 'Lines'], rows: rows.map(([reason, count]) => [reason, count]) }
      }
      definition="report/quality_by_reason"
      span={4}
    >
      <BarList
        columns={['Reason', 'Lines']}
        none={asked.answer === undefined ? '–' : 'No line was rejected in this range.'}
        rows={rows.map(([reason, count]) => ({
          key: reason,
          name: reason,
          value: count,
          cells: [cell(count, 'count')],
        }))}
      />
    </Panel>
  );
}

function Restated({ asked }: QualityProps) {
  const rows = (asked.answer?.data ?? []).flatMap(
    ({ date, late, restatements, first_built_at, built_at }) => {
      const why = [...new Set(restatements.map(({ reason }) => reason))].join(', ');
      const tables = new Set(restatements.map(({ table }) => table)).size;
      return restatements.length === 0 ? [] : [{ date, why, late, tables, first_built_at, built_at }];
    },
  );
  return (
    <Panel
      name="restated"
      title="Restated days"
      note="what a built day said before and says now differ"
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: ['Day', 'Why', 'Late events', 'Tables changed', 'First built', 'Built again'],
          rows: rows.map((row) => [
            row.date,
            row.why,
            row.late,
            row.tables,
            row.first_built_at,
            row.built_at,
          ]),
        }
      }
      definition="report/quality_restatements"
      span={8}
    >
      {rows.length === 0 ? (
        <p class="note none">
          {asked.answer === undefined ? '–' : 'No built day has changed in this range.'}
        </p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and whoever has no mouse scrolls what has the focus.
        <section class="scrolls" aria-label="Rows of restated days" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Day</th>
                <th scope="col">Why</th>
                <th scope="col" class="number">
                  Late events
                </th>
                <th scope="col" class="number">
                  Tables changed
                </th>
                <th scope="col">Built again</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ date, why, late, tables, built_at }) => (
                <tr key={date}>
                  <th scope="row">{weekdayText(date)}</th>
                  <td>{why}</td>
                  <td class="number">{cell(late, 'count')}</td>
                  <td class="number">{tables}</td>
                  <td>{instantText(Date.parse(built_at))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </Panel>
  );
}
