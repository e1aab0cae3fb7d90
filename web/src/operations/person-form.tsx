import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answers } from '../answers.js';
import { type ServiceError, sendJson, withQuery } from '../client.js';
import { addDays, today } from '../days.js';
import { Field } from './fields.js';

/** The path of the people. */
export const PEOPLE = 'api/v0/organization/people';

export type People = Answers['getPeople'];
export type Person = People['people'][number];
type Change = Answers['putPeople'];

/** Adds or replaces a person if the people are still those that were read, or says what would change. Throws a ServiceError. */
export function savePerson(
  person: Person,
  { revision }: Pick<People, 'revision'>,
  dryRun?: true,
): Promise<Change> {
  return sendJson(
    'PUT',
    withQuery(PEOPLE, { keepOthers: 'true', dryRun: dryRun && 'true' }),
    { people: [person] },
    {
      'if-match': `"${revision}"`,
    },
  );
}

/** A change that was made, as a sentence. */
export function savedText({ changes, days }: Change): string {
  const made = changes.map(({ userId, change }) => `${userId}: ${change}.`).join(' ');
  return days === 0
    ? made
    : `${made} ${days === 1 ? '1 day counts' : `${days} days count`} so from the next build on.`;
}

/** A team or cost centre as the form has it. An empty day is one that isn't known. */
interface Line {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly isLead: boolean;
}

function linesOf(
  all: readonly { name: string; from: string | null; to: string | null; isLead?: boolean }[],
): Line[] {
  return all.map(({ name, from, to, isLead = false }) => ({ name, from: from ?? '', to: to ?? '', isLead }));
}

const lineTexts = (text: string) => text.split(/\n/).flatMap((line) => line.trim() || []);

/** Adds a person, or changes one. The service says what would change before it counts. */
export function PersonForm({
  person,
  people,
  close,
  reload,
  saved,
}: {
  person: Person | undefined;
  people: People;
  close: () => void;
  reload: () => void;
  saved: (sentence: string) => void;
}) {
  const [userId, setUserId] = useState(person?.userId ?? '');
  const [name, setName] = useState(person?.name ?? '');
  const [emails, setEmails] = useState(person?.emails.join('\n') ?? '');
  const [aliases, setAliases] = useState(person?.aliases.join('\n') ?? '');
  const [teams, setTeams] = useState(linesOf(person?.teams ?? []));
  const [centers, setCenters] = useState(linesOf(person?.costCenters ?? []));
  const [preview, setPreview] = useState<Change>();
  const [fault, setFault] = useState<ServiceError>();
  const [isBusy, setIsBusy] = useState(false);
  const first = useRef<HTMLInputElement>(null);
  // The form may be far from the row that was pressed.
  useEffect(() => {
    if (person !== undefined) first.current?.focus();
  }, []);
  const edit =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value);
      setPreview(undefined);
    };

  async function act(work: (person: Person) => Promise<void>) {
    const belonging = ({ name, from, to }: Line) => ({
      name: name.trim(),
      from: from || null,
      to: to || null,
    });
    setIsBusy(true);
    setFault(undefined);
    try {
      await work({
        ...{ userId: userId.trim(), name: name.trim() },
        ...{ emails: lineTexts(emails), aliases: lineTexts(aliases) },
        teams: teams.map((line) => ({ ...belonging(line), isLead: line.isLead })),
        costCenters: centers.map(belonging),
      });
    } catch (error) {
      setFault(error as ServiceError);
      setPreview(undefined);
    }
    setIsBusy(false);
  }
  const isAdding = person === undefined;
  const isTaken = isAdding && people.people.some((one) => one.userId === userId.trim());

  return (
    <section class="panel" aria-labelledby="person-title">
      <header>
        <h2 id="person-title">
          {isAdding ? (
            'Add a person'
          ) : (
            <>
              Edit <bdi>{person.userId}</bdi>
            </>
          )}
        </h2>
      </header>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isTaken) act(async (one) => setPreview(await savePerson(one, people, true)));
        }}
      >
        {isAdding && (
          <Field label="User id" hint="The id under which the person is shown.">
            <input
              required
              autocomplete="off"
              spellcheck={false}
              value={userId}
              onInput={({ currentTarget }) => edit(setUserId)(currentTarget.value)}
            />
          </Field>
        )}
        <Field label="Name">
          <input
            ref={first}
            autocomplete="off"
            value={name}
            onInput={({ currentTarget }) => edit(setName)(currentTarget.value)}
          />
        </Field>
        <Field label="E-mail addresses" hint="One per line. The first one is shown.">
          <textarea
            rows={2}
            spellcheck={false}
            value={emails}
            onInput={({ currentTarget }) => edit(setEmails)(currentTarget.value)}
          />
        </Field>
        <Field
          label="Other names"
          hint="One per line: ids of collectors, telemetry and identity providers, logins of vendors."
        >
          <textarea
            rows={2}
            spellcheck={false}
            value={aliases}
            onInput={({ currentTarget }) => edit(setAliases)(currentTarget.value)}
          />
        </Field>
        <Lines what="team" lines={teams} set={edit(setTeams)} hasLead />
        <Lines what="cost centre" lines={centers} set={edit(setCenters)} />
        <div role="alert">
          {isTaken && (
            <p class="bad">
              <bdi>{userId.trim()}</bdi> is there already: edit that person.
            </p>
          )}
          {fault !== undefined && <Fault fault={fault} reload={reload} />}
        </div>
        <div role="status">
          {preview?.changes.map(({ userId, change }) => (
            <p key={userId} class="preview">
              <bdi>
                {userId}: {change}
              </bdi>
            </p>
          ))}
          {preview?.changes.length === 0 && <p class="note">Nothing changes.</p>}
        </div>
        <div class="buttons">
          {preview === undefined || preview.changes.length === 0 ? (
            <button type="submit" class="main" disabled={isBusy}>
              Show the change
            </button>
          ) : (
            <button
              type="button"
              class="main"
              disabled={isBusy}
              onClick={() => act(async (one) => saved(savedText(await savePerson(one, people))))}
            >
              Save
            </button>
          )}
          {!isAdding && (
            <button type="button" disabled={isBusy} onClick={close}>
              Cancel
            </button>
          )}
        </div>
      </form>
    </section>
  );
}

/** Why a change isn't saved. After a change of somebody else, the people have to be read again. */
export function Fault({ fault: { status, message }, reload }: { fault: ServiceError; reload: () => void }) {
  if (status !== 412) return <p class="bad">{message}</p>;
  return (
    <div class="conflict">
      <p>
        <b>Somebody has changed the people meanwhile, and nothing of yours is saved.</b> Reload them, then
        make your change again.
      </p>
      <div class="buttons">
        <button type="button" onClick={reload}>
          Reload
        </button>
      </div>
    </div>
  );
}

/** The teams or cost centres of a person. */
function Lines({
  what,
  lines,
  set,
  hasLead = false,
}: {
  what: 'team' | 'cost centre';
  lines: readonly Line[];
  set: (lines: Line[]) => void;
  hasLead?: boolean;
}) {
  const change = (place: number, more: Partial<Line>) =>
    set(lines.map((line, index) => (index === place ? { ...line, ...more } : line)));
  // The one of before ends yesterday. The first one of a person counts for all days.
  const add = () => {
    const ended = lines.map((line) => (line.to === '' ? { ...line, to: addDays(today(), -1) } : line));
    set([...ended, { name: '', from: lines.length === 0 ? '' : today(), to: '', isLead: false }]);
  };
  return (
    <fieldset class="belongings">
      <legend>{what === 'team' ? 'Teams' : 'Cost centres'}</legend>
      {lines.map((line, place) => {
        const nth = lines.length === 1 ? '' : ` ${place + 1}`;
        return (
          <div key={place}>
            <input
              required
              aria-label={`Name of ${what}${nth}`}
              autocomplete="off"
              value={line.name}
              onInput={({ currentTarget }) => change(place, { name: currentTarget.value })}
            />
            <button
              type="button"
              aria-label={`Remove ${what}${nth}`}
              onClick={() => set(lines.filter((_, index) => index !== place))}
            >
              Remove
            </button>
            <label>
              from{' '}
              <input
                type="date"
                aria-label={`First day in ${what}${nth}`}
                value={line.from}
                onInput={({ currentTarget }) => change(place, { from: currentTarget.value })}
              />
            </label>
            <label>
              to{' '}
              <input
                type="date"
                aria-label={`Last day in ${what}${nth}`}
                value={line.to}
                onInput={({ currentTarget }) => change(place, { to: currentTarget.value })}
              />
            </label>
            {hasLead && (
              <label class="check">
                <input
                  type="checkbox"
                  checked={line.isLead}
                  onInput={({ currentTarget }) => change(place, { isLead: currentTarget.checked })}
                />{' '}
                leads it, and gets its digest
              </label>
            )}
          </div>
        );
      })}
      <button type="button" onClick={add}>
        {lines.length === 0 ? `Add a ${what}` : `Move to another ${what} today`}
      </button>
      {lines.length > 0 && <small>Days in UTC. An empty day is without an end.</small>}
    </fieldset>
  );
}
