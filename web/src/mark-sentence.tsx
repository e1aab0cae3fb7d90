import { useState } from 'preact/hooks';
import { hrefOf } from './address.js';
import { sendJson } from './client.js';
import { dayText, figure, instantText } from './format.js';
import { type Mark, peopleText, readable, useMarks, Word } from './marks.js';
import type { RangeProps } from './page-props.js';
import { may, type Session } from './session.js';

interface PersonMarkProps extends RangeProps {
  /** Undefined for the reader, who gets no other marks. */
  readonly userId: string | undefined;
  readonly session: Session;
}

/** Says that a person is stuck: since when, how much, against whom, and why. */
export function PersonMark({ address, last, userId, session }: PersonMarkProps) {
  const asked = useMarks(last);
  const [fault, setFault] = useState('');
  const mark = asked.answer?.data.find(
    ({ kind, name }) => kind === 'person' && (userId === undefined || name === userId),
  );
  if (mark === undefined) return null;
  const { name, hidden_by, hidden_at } = mark;
  const hide = () =>
    sendJson('POST', 'api/v1/analytics/marks/hidden', { user_id: name }).then(asked.again, (error: Error) =>
      setFault(error.message),
    );
  return (
    <section class={hidden_at === null ? 'mark' : 'mark over'} aria-labelledby="mark-title">
      <h2 id="mark-title">
        <Word word="stuck" tone={hidden_at === null ? 'bad' : 'calm'} /> {sentenceOf(mark)}
      </h2>
      <ul>
        {mark.reasons.map((reason) => (
          <li key={reason}>{readable(reason)}</li>
        ))}
      </ul>
      <p class="note">
        It says how the agent fares, not how a person works.{' '}
        <a href={hrefOf({ ...address, path: ['numbers'], choices: {} })}>When a person is marked</a>
      </p>
      {hidden_at !== null && (
        <p class="note" role="status">
          Hidden by <bdi>{hidden_by}</bdi> on {instantText(hidden_at)}, until it ends.
        </p>
      )}
      {hidden_at === null && may(session, 'hide marks') && (
        <button type="button" onClick={hide}>
          Not stuck: hide until it ends
        </button>
      )}
      {fault !== '' && (
        <p role="alert" class="bad">
          {fault}
        </p>
      )}
    </section>
  );
}

function sentenceOf({ since, failed_call_ratio, ratio_of_all }: Mark): string {
  return `${since === null ? '' : `since ${dayText(since)}: `}${figure(failed_call_ratio, 'share')} of calls failed${ratio_of_all === null ? '' : `, others ${figure(ratio_of_all, 'share')}`}`;
}

/** Says how many people of a team are stuck, and who they are where people are seen by name. */
export function TeamMark({ address, last, team }: RangeProps & { readonly team: string }) {
  const { answer } = useMarks(last);
  const all = answer?.data ?? [];
  const mark = all.find(({ kind, name }) => kind === 'team' && name === team);
  if (mark === undefined) return null;
  const people = all.filter((one) => one.kind === 'person' && one.team === team && one.hidden_at === null);
  return (
    <section class="mark" aria-labelledby="mark-title">
      <h2 id="mark-title">
        <Word word="stuck" tone="bad" /> {peopleText(mark.users)} of the team
      </h2>
      {people.length > 0 && (
        <ul>
          {people.map((one) => (
            <li key={one.name}>
              <a href={hrefOf({ ...address, path: ['people'], choices: { name: one.name } })}>
                <bdi>{one.name}</bdi>
              </a>{' '}
              {sentenceOf(one)}
            </li>
          ))}
        </ul>
      )}
      <p class="note">
        It says how agents fare, not how people work.{' '}
        <a href={hrefOf({ ...address, path: ['numbers'], choices: {} })}>When a person is marked</a>
      </p>
    </section>
  );
}
