import { useState } from 'preact/hooks';
import type { Answers } from '../answers.js';
import { useFresh } from '../client.js';
import { today } from '../days.js';
import { figure } from '../format.js';
import type { PageProps } from '../page-props.js';
import { Paging } from '../paging.js';
import { Answered } from '../panel.js';
import { ScrolledTable } from '../scrolled-table.js';
import { may } from '../session.js';
import { Done } from './dialog.js';
import { PEOPLE, type Person, PersonForm } from './person-form.js';
import { SamePerson } from './same-person.js';

const PAGE = 50;

/** Who the people are: their names, teams and cost centres, which owners change one by one. */
export function People({ session }: PageProps) {
  const asked = useFresh<Answers['getPeople']>(PEOPLE);
  const [edited, setEdited] = useState<Person>();
  const [done, setDone] = useState('');
  const isOwner = may(session, 'change people');
  const reload = () => {
    setEdited(undefined);
    setDone('');
    asked.again();
  };
  const saved = (sentence: string) => {
    reload();
    setDone(sentence);
  };
  return (
    <div class="panels loose">
      <section class="panel span-8" aria-labelledby="people-title">
        <header>
          <h2 id="people-title">People of {session.org_id}</h2>
          {asked.answer !== undefined && <p class="note">{sumOf(asked.answer.people)}</p>}
        </header>
        <Done text={done} />
        <Answered asked={asked}>
          {({ people }) => <List people={people} edit={isOwner ? setEdited : undefined} />}
        </Answered>
      </section>
      <div class="panel-stack">
        {isOwner ? (
          asked.answer !== undefined && (
            <PersonForm
              key={`${asked.answer.revision} ${edited?.userId ?? ''}`}
              person={edited}
              people={asked.answer}
              close={() => setEdited(undefined)}
              reload={reload}
              saved={saved}
            />
          )
        ) : (
          <p class="note">Your role can only read who the people are: an owner changes them.</p>
        )}
        {asked.answer !== undefined && (
          <SamePerson people={asked.answer} isOwner={isOwner} reload={reload} saved={saved} />
        )}
        {isOwner && (
          <section class="panel" aria-labelledby="people-file-title">
            <header>
              <h2 id="people-file-title">Import a file</h2>
            </header>
            <p>A CSV file of many people is imported in a terminal. This shows what would change:</p>
            <pre class="command">daybook people import people.csv --org {session.org_id}</pre>
            <p class="note">With --apply it counts.</p>
          </section>
        )}
      </div>
    </div>
  );
}

/** How many people there are, and in how many teams and cost centres today. */
function sumOf(people: readonly Person[]): string {
  const named = (of: (person: Person) => string | undefined) =>
    new Set(people.flatMap((one) => of(one) ?? [])).size;
  const counted = (count: number, one: string) => `${figure(count, 'count')} ${one}${count === 1 ? '' : 's'}`;
  const teams = named(({ teams }) => nowIn(teams)?.name);
  const centers = named(({ costCenters }) => nowIn(costCenters)?.name);
  return `${people.length === 1 ? '1 person' : `${figure(people.length, 'count')} people`} in ${counted(teams, 'team')} and ${counted(centers, 'cost centre')} today`;
}

/** The team or cost centre of a list that counts today. */
function nowIn<T extends { readonly from: string | null; readonly to: string | null }>(
  all: readonly T[],
): T | undefined {
  const day = today();
  return all.find(({ from, to }) => (from ?? day) <= day && day <= (to ?? day));
}

const COLUMNS = ['Person', 'Team', 'Cost centre', 'Other names'];
const EDIT = (
  <span key="edit" class="unseen">
    Edit
  </span>
);

function List({ people, edit }: { people: readonly Person[]; edit: ((person: Person) => void) | undefined }) {
  const [search, setSearch] = useState('');
  const [cursors, setCursors] = useState<readonly string[]>([]);
  if (people.length === 0)
    return (
      <p class="note none">
        Nobody is named yet: add a person, or import a file. Until then each name is a user.
      </p>
    );
  const words = search.trim().toLowerCase();
  const found = people.filter((person) => words === '' || textOf(person).includes(words));
  const start = Number(cursors.at(-1) ?? 0);
  return (
    <>
      <label class="field find">
        <span>Find a person by any name, team or cost centre</span>
        <input
          type="search"
          value={search}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => {
            setSearch(currentTarget.value);
            setCursors([]);
          }}
        />
      </label>
      {found.length === 0 ? (
        <p class="note none">Nobody has this in a name.</p>
      ) : (
        <ScrolledTable
          label="People"
          class="things"
          columns={edit === undefined ? COLUMNS : [...COLUMNS, EDIT]}
        >
          {found.slice(start, start + PAGE).map((person) => (
            <Row key={person.userId} person={person} edit={edit} />
          ))}
        </ScrolledTable>
      )}
      <Paging
        cursors={cursors}
        next={start + PAGE < found.length ? String(start + PAGE) : null}
        turn={setCursors}
      />
    </>
  );
}

/** All names of a person, to search in. */
function textOf({ userId, name, emails, aliases, teams, costCenters }: Person): string {
  const groups = [...teams, ...costCenters].map((one) => one.name);
  return [userId, name, ...emails, ...aliases, ...groups].join('\n').toLowerCase();
}

function Row({ person, edit }: { person: Person; edit: ((person: Person) => void) | undefined }) {
  const { userId, name, emails, aliases, teams, costCenters } = person;
  return (
    <tr>
      <th scope="row">
        <bdi title={userId}>{name === '' ? userId : name}</bdi>
        {name !== '' && <code title="The id under which the person is shown">{userId}</code>}
      </th>
      <td>
        <Belongs all={teams} />
      </td>
      <td>
        <Belongs all={costCenters} />
      </td>
      <td>
        {[...emails, ...aliases].map((other) => (
          <span key={other} class="other-name">
            <bdi title={other}>{other}</bdi>
          </span>
        ))}
        {emails.length + aliases.length === 0 && '–'}
      </td>
      {edit !== undefined && (
        <td class="number">
          <button type="button" aria-label={`Edit ${userId}`} onClick={() => edit(person)}>
            Edit
          </button>
        </td>
      )}
    </tr>
  );
}

/** What a person belongs to today, since when, and what comes after it. */
function Belongs({ all }: { all: readonly (Person['teams'][number] | Person['costCenters'][number])[] }) {
  const present = nowIn(all);
  const next = all.find(({ from }) => from !== null && from > today());
  const days = [
    ...(present?.from == null ? [] : [`since ${present.from}`]),
    ...(present?.to == null ? [] : [`until ${present.to}`]),
    ...(present !== undefined && 'isLead' in present && present.isLead ? ['lead'] : []),
    ...(next === undefined ? [] : [`${next.name} from ${next.from}`]),
  ];
  return (
    <>
      {present === undefined ? '–' : <bdi title={present.name}>{present.name}</bdi>}
      {days.length > 0 && <span class="note other-name">{days.join(', ')}</span>}
    </>
  );
}
