import type { Answers } from '../answers.js';
import { useAnswer, withQuery } from '../client.js';
import { Answered } from '../panel.js';
import { ScrolledTable } from '../scrolled-table.js';
import { CONTROLS } from './settings-revisions.js';

type Answer = Answers['getOrganizationEnterpriseControlsDifferences'];

interface Revisions {
  readonly from: number;
  readonly to: number;
}

/** The differences between two revisions of the controls. */
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
    <ScrolledTable
      label={`Differences of revisions ${from} and ${to}`}
      class="things differences"
      columns={['Member', `Revision ${from}`, `Revision ${to}`]}
    >
      {differences.map(({ member, before, after }) => (
        <tr key={member}>
          <th scope="row">
            <bdi>{member}</bdi>
          </th>
          <td>{before === undefined ? '–' : <code>{JSON.stringify(before)}</code>}</td>
          <td>{after === undefined ? '–' : <code>{JSON.stringify(after)}</code>}</td>
        </tr>
      ))}
    </ScrolledTable>
  );
}
