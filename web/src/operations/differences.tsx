import type { Answers } from '../answers.js';
import { useAnswer, withQuery } from '../client.js';
import { Answered } from '../panel.js';
import { CONTROLS } from './settings-revisions.js';

type Answer = Answers['getOrganizationEnterpriseControlsDifferences'];

interface Revisions {
  readonly from: number;
  readonly to: number;
}

/** What two revisions of the controls have differently. */
export function Differences({ from, to }: Revisions) {
  const asked = useAnswer<Answer>(withQuery(`${CONTROLS}/differences`, { from, to }));
  return (
    <Answered asked={asked}>
      {({ differences }) =>
        differences.length === 0 ? (
          <p class="note none">Both have the same settings.</p>
        ) : (
          <Rows from={from} to={to} differences={differences} />
        )
      }
    </Answered>
  );
}

function Rows({ from, to, differences }: Revisions & Answer) {
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
