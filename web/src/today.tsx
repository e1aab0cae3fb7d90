import type { Answers } from './answers.js';
import { useAnswer } from './client.js';
import { figure, instantText, type Unit } from './format.js';
import { Panel } from './panel.js';

/** The open day, apart from the days that are over: its numbers still grow. */
export function TodaySoFar() {
  const asked = useAnswer<Answers['getAnalyticsToday']>('api/v1/analytics/today');
  const { tokens, tools, activity, productivity } = asked.answer?.data ?? {};
  const numbers: [string, number | undefined, Unit][] = [
    ['Active users', activity?.daily_active_users, 'count'],
    ['Billable tokens', tokens?.billable_tokens, 'count'],
    ['Tool calls', tools?.tool_calls, 'count'],
    ['Commits', productivity?.git_commits, 'count'],
    ['Pull requests', productivity?.git_prs_created, 'count'],
  ];
  const at = asked.answer?.meta.counted_at;
  return (
    <Panel
      name="today"
      title="Today so far"
      note={
        at === undefined
          ? undefined
          : `counted on ${instantText(Date.parse(at))}; no other number on this page has today`
      }
      asked={asked}
      table={
        asked.answer && {
          columns: ['Number', 'Today'],
          rows: numbers.map(([name, value]) => [name, value ?? null]),
        }
      }
      definition="report/summary"
      span={12}
    >
      <dl class="figures">
        {numbers.map(([name, value, unit]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{figure(value, unit)}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
