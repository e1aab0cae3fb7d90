import type { Answers } from '../answers.js';
import { useAnswer, withQuery } from '../client.js';
import { Problem } from '../panel.js';
import { CONTROLS } from './settings-revisions.js';

/** What two revisions of the controls have differently. */
export function Differences({ from, to }: { from: number; to: number }) {
  const asked = useAnswer<Answers['getOrganizationEnterpriseControlsDifferences']>(
    withQuery(`${CONTROLS}/differences`, { from, to }),
  );
  if (asked.error !== undefined) return <Problem error={asked.error} again={asked.again} />;
  if (asked.answer === undefined) return <p class="note none">–</p>;
  const { differences } = asked.answer;
  if (differences.length === 0) return <p class="note none">Both have the same settings.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and whoever has no mouse scrolls what has the focus.
    <section class="scrolls" aria-label={`Differences of revisions ${from} and ${to}`} tabIndex={0}>
      <table class="things differences">
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col">Revision {from}</th>
            <th scope="col">Revision {to}</th>
          </tr>
        </thead>
        <tbody>
          {differences.map(({ member, before, after }) => (
            <tr key={member}>
              <th scope="row">
                <bdi>{member}</bdi>
              </th>
              <td>{before === undefined ? '–' : <code>{JSON.stringify(before)}</code>}</td>
              <td>{after === undefined ? '–' : <code>{JSON.stringify(after)}</code>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
