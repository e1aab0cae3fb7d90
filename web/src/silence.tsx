import { useState } from 'preact/hooks';
import type { Answers } from './answers.js';
import { sendJson, useFresh } from './client.js';
import { dayText, figure, instantText } from './format.js';
import { Ask, Done } from './operations/dialog.js';
import { Field } from './operations/fields.js';
import { Panel } from './panel.js';
import { ScrolledTable } from './scrolled-table.js';
import { may, type Session } from './session.js';

type Answer = Answers['getAnalyticsSilence'];
type Silent = Answer['data'][number];

const PATH = 'api/v1/analytics/silence';

/** How many rows are shown. */
const ROWS = 50;

/** The collectors and agents that have stopped reporting, and what people know of them. */
export function Silence({ session }: { session: Session }) {
  const asked = useFresh<Answer>(PATH);
  const [asking, setAsking] = useState<Silent>();
  const [reason, setReason] = useState('');
  const [done, setDone] = useState('');
  const { data = [], meta } = asked.answer ?? {};
  const close = () => {
    setAsking(undefined);
    setReason('');
  };
  return (
    <Panel
      name="silence"
      title="Silent laptops and agents"
      note="until they report again, or somebody says why"
      asked={asked}
      isTable
      table={
        asked.answer && {
          columns: ['What', 'Of', 'State', 'Last day', 'Acknowledged by', 'Reason'],
          rows: data.map((row) => [
            ...[labelOf(row), row.user_id, row.state, row.last_day],
            ...[row.acknowledged_by, row.reason],
          ]),
        }
      }
      definition="report/silence"
      span={12}
    >
      <Done text={done} />
      {meta !== undefined && (
        <p class="note">
          {figure(meta.live_collectors, 'count')}{' '}
          {meta.live_collectors === 1 ? 'laptop reports' : 'laptops report'},{' '}
          {figure(meta.silent_collectors, 'count')} {meta.silent_collectors === 1 ? 'is' : 'are'} silent.{' '}
          {figure(meta.silent_agents, 'count')} {meta.silent_agents === 1 ? 'agent is' : 'agents are'} silent,{' '}
          {figure(meta.idle_agents, 'count')} {meta.idle_agents === 1 ? 'has' : 'have'} nothing to send.
        </p>
      )}
      {data.length > 0 && (
        <ScrolledTable
          label="List of silent laptops and agents"
          class="things"
          columns={[
            ...['What', 'Of', 'State', 'Last reported'],
            <span key="acknowledge" class="unseen">
              Acknowledge
            </span>,
          ]}
        >
          {data.slice(0, ROWS).map((row) => (
            <tr key={`${row.user_id} ${row.kind} ${row.name}`} class={row.state === 'silent' ? '' : 'over'}>
              <th scope="row">
                <bdi>{labelOf(row)}</bdi>
                {row.version !== null && <span class="note"> {row.version}</span>}
              </th>
              <td>
                <bdi>{row.user_id}</bdi>
              </td>
              <td>
                <StateOf row={row} />
              </td>
              <td>{row.last_seen_at === null ? dayText(row.last_day) : instantText(row.last_seen_at)}</td>
              <td class="number">
                {row.state === 'silent' && may(session, 'acknowledge silence') && (
                  <button
                    type="button"
                    aria-label={`Acknowledge ${labelOf(row)} of ${row.user_id}`}
                    onClick={() => setAsking(row)}
                  >
                    Acknowledge
                  </button>
                )}
              </td>
            </tr>
          ))}
        </ScrolledTable>
      )}
      {data.length > ROWS && (
        <p class="note">
          {figure(data.length - ROWS, 'count')} more aren’t shown: the menu of this panel has all as a table.
        </p>
      )}
      {asking !== undefined && (
        <Ask
          title={
            <>
              Acknowledge <bdi>{labelOf(asking)}</bdi> of <bdi>{asking.user_id}</bdi>?
            </>
          }
          action="Acknowledge"
          act={async () => {
            const { user_id, kind, name } = asking;
            await sendJson('POST', `${PATH}/acknowledgements`, {
              ...{ user_id, kind, name },
              ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
            });
            setDone(`${labelOf(asking)} of ${user_id} is acknowledged.`);
            asked.again();
          }}
          onClose={close}
        >
          <p>It no longer counts as silent. This ends by itself when it reports again.</p>
          <Field label="Reason" hint="For others who see it here, such as “on leave until July”.">
            <input
              name="reason"
              maxLength={500}
              autocomplete="off"
              value={reason}
              onInput={({ currentTarget }) => setReason(currentTarget.value)}
            />
          </Field>
        </Ask>
      )}
    </Panel>
  );
}

/** What is silent, in words. */
function labelOf({ kind, name, host }: Silent): string {
  return kind === 'collector' ? (host ?? `laptop ${name}`) : name || 'an agent';
}

function StateOf({ row: { state, acknowledged_by, acknowledged_at, reason } }: { row: Silent }) {
  if (state === 'silent')
    return (
      <>
        <i class="state warn" /> silent
      </>
    );
  if (state === 'acknowledged')
    return (
      <>
        acknowledged by <bdi>{acknowledged_by}</bdi>
        {acknowledged_at !== null && `, ${instantText(acknowledged_at)}`}
        {reason !== null && (
          <>
            : <bdi>{reason}</bdi>
          </>
        )}
      </>
    );
  return <>{state === 'idle' ? 'idle: nothing to send' : state}</>;
}
