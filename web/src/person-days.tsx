import type { ComponentChildren } from 'preact';
import { rangeOf } from './address.js';
import type { Answers } from './answers.js';
import { BarList } from './bar-list.js';
import { DayCells } from './cells.js';
import { type Asked, analyticsPath, useAnswer } from './client.js';
import { byTokens, useModelCosts } from './costs.js';
import { type Day, daysOf, type Range } from './days.js';
import { cell, dayText, nameOf, weekdayText } from './format.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { mostFirst } from './ranking.js';

type Row = Answers['getAnalyticsMe']['data'][number];

/** The autonomy modes from highest to lowest, each with its name and colour. */
const MODES: readonly (readonly [mode: string, name: string, color: string])[] = [
  ['auto-high', 'High', '--a3'],
  ['auto-medium', 'Medium', '--a2'],
  ['auto-low', 'Low', '--a1'],
  ['spec', 'Spec', '--before'],
  ['manual', 'Manual', '--before'],
];

interface PersonDaysProps extends RangeProps {
  /** Undefined for the reader's own days. */
  readonly userId: string | undefined;
  /** Shown between the two panels, which are then less wide. */
  readonly children?: ComponentChildren;
}

function useDaysOf(userId: string | undefined, range: Range): Asked<{ data: Row[] }> {
  return useAnswer(
    userId === undefined ? analyticsPath('me', range) : analyticsPath('users', range, { user_id: userId }),
  );
}

/** The model that a person uses most, and the last active day of the range. No filtered page has them. */
export function PersonFacts({ address, last, userId }: RangeProps & { userId: string }) {
  const { answer } = useDaysOf(userId, rangeOf(address, last));
  const [model] = byTokens(useModelCosts(address, last).models);
  const day = answer?.data.at(-1)?.date;
  return (
    <p>
      {model !== undefined && (
        <>
          Most used model: <bdi>{nameOf('model', model.name)}</bdi>.{' '}
        </>
      )}
      {day !== undefined && `Last active on ${dayText(day)}`}
      {answer?.data.length === 0 && 'Not active in this range'}
      {'\u00a0'}
    </p>
  );
}

/** The autonomy modes and languages of a person's days, which exist only per person and day. No filtered page has them. */
export function PersonDays({ address, last, userId, children }: PersonDaysProps) {
  const range = rangeOf(address, last);
  const asked = useDaysOf(userId, range);
  const rows = asked.answer?.data ?? [];
  const most = Math.max(1, ...rows.map(({ sessions }) => sessions));
  const languages = new Map<string, number>();
  for (const row of rows)
    for (const language of row.languages) languages.set(language, (languages.get(language) ?? 0) + 1);
  const used = mostFirst(languages);
  const of = new Map(rows.map((row) => [row.date as Day, row]));
  return (
    <>
      <Panel
        name="modes"
        title="Sessions and autonomy"
        note="the mode used most, darker with more sessions"
        asked={asked}
        table={
          asked.answer && {
            columns: ['Day', 'Mode', 'Calls a turn', 'Sessions', 'Messages'],
            rows: daysOf(range).map((day) => {
              const row = of.get(day);
              return [
                day,
                row?.delegation_level ?? null,
                row?.autonomy_ratio ?? null,
                row?.sessions ?? null,
                row?.user_messages ?? null,
              ];
            }),
          }
        }
        definition="daily/users"
        span={children === undefined ? 8 : 6}
      >
        <DayCells
          range={range}
          names={MODES.map(([, name]) => name)}
          cells={rows.flatMap(({ date, delegation_level, sessions }) => {
            const [, name = '', color = ''] = MODES.find(([mode]) => mode === delegation_level) ?? [];
            const title = `${weekdayText(date)}, sessions: ${cell(sessions, 'count')}`;
            const share = Math.max(0.1, sessions / most);
            return name === '' ? [] : [{ name, color, column: date, share, title }];
          })}
        />
      </Panel>
      {children}
      <Panel
        name="languages-of-days"
        title="Languages"
        asked={asked}
        isTable
        table={asked.answer && { columns: ['Language', 'Days'], rows: used }}
        definition="report/users_by_language"
        span={children === undefined ? 4 : 6}
      >
        <BarList
          columns={['Language', 'Days']}
          isKnown={asked.answer !== undefined}
          rows={used.slice(0, 6).map(([language, count]) => ({
            key: language,
            name: language,
            value: count,
            cells: [cell(count, 'count')],
          }))}
          more={used.length > 6 ? `${used.length - 6} more in the table` : undefined}
        />
      </Panel>
    </>
  );
}
