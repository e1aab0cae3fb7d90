import type { Answers } from './answers.js';
import { type Asked, useAgain, useAnswer } from './client.js';
import type { Day } from './days.js';
import { FIGURES } from './figures.js';
import { figure, instantText } from './format.js';
import { Panel } from './panel.js';
import type { Numbers } from './summary.js';

type Today = Answers['getAnalyticsToday'];

/** The day that isn't over, as last counted. */
export interface OpenDay {
  readonly day: Day;
  readonly counts: Today['data'];
}

/** How often the day is counted again while the page is visible. */
const AGAIN_MS = 60_000;

/** Asks for the open day while the switch is on. */
export function useToday(isOn: boolean): Asked<Today> {
  const asked = useAnswer<Today>(isOn ? 'api/v1/analytics/today' : undefined);
  useAgain(asked, isOn ? AGAIN_MS : undefined);
  return asked;
}

export function openDayOf({ answer }: Asked<Today>): OpenDay | undefined {
  return answer && { day: answer.meta.start_date, counts: answer.data };
}

/** A number of the open day. */
export function numberOf({ counts }: OpenDay, member: keyof Numbers): number | null {
  return counts.summary[member];
}

/** The numbers of the open day, shown apart from those of days that are over, since they still grow. */
export function TodaySoFar({ asked }: { asked: Asked<Today> }) {
  const open = openDayOf(asked);
  const numbers = FIGURES.map(({ member, name, unit }) => ({
    name,
    unit,
    value: open === undefined ? null : numberOf(open, member),
  }));
  const at = asked.answer?.meta.counted_at;
  return (
    <Panel
      name="today"
      title="Today so far"
      note={at === undefined ? undefined : `all people and models, counted on ${instantText(at)}`}
      asked={asked}
      table={open && { columns: ['Number', 'Today'], rows: numbers.map(({ name, value }) => [name, value]) }}
      definition="daily/activity"
      span={12}
    >
      <dl class="figures">
        {numbers
          .filter(({ value }) => value !== null || open === undefined)
          .map(({ name, value, unit }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{figure(value, unit)}</dd>
            </div>
          ))}
      </dl>
    </Panel>
  );
}
