import { useState } from 'preact/hooks';
import type { Answers } from '../answers.js';
import { type ServiceError, useFresh } from '../client.js';
import { Answered } from '../panel.js';
import { Fault, PEOPLE, type People, savedText, savePerson } from './person-form.js';

type Proposal = Answers['getProposedAliases']['proposals'][number];

/** How many proposals are shown at a time: those that are answered make room for others. */
const SHOWN = 10;

const REASONS: Readonly<Record<Proposal['reason'], string>> = {
  spelling: 'Only upper case and white space tell them apart.',
  address: 'Both have the same address.',
  login: 'A vendor lists the second as a login, which is like a name or address of the first.',
};

/** Users who may be the same person. Owners make one the other name of the other. */
export function SamePerson({
  people,
  isOwner,
  reload,
  saved,
}: {
  people: People;
  isOwner: boolean;
  reload: () => void;
  saved: (sentence: string) => void;
}) {
  const asked = useFresh<Answers['getProposedAliases']>(`${PEOPLE}/proposals`);
  const [fault, setFault] = useState<ServiceError>();
  const [isBusy, setIsBusy] = useState(false);
  const merge = async ({ userId, alias }: Proposal) => {
    setIsBusy(true);
    setFault(undefined);
    try {
      const before = people.people.find((one) => one.userId === userId);
      const person = before ?? { userId, name: '', emails: [], aliases: [], teams: [], costCenters: [] };
      const change = await savePerson({ ...person, aliases: [...person.aliases, alias] }, people);
      asked.again();
      saved(savedText(change));
    } catch (error) {
      setFault(error as ServiceError);
    }
    setIsBusy(false);
  };
  return (
    <section class="panel" aria-labelledby="same-person-title">
      <header>
        <h2 id="same-person-title">The same person?</h2>
      </header>
      <div role="alert">
        {fault !== undefined && (
          <Fault
            fault={fault}
            reload={() => {
              setFault(undefined);
              asked.again();
              reload();
            }}
          />
        )}
      </div>
      <Answered asked={asked}>
        {({ proposals }) =>
          proposals.length === 0 ? (
            <p class="note none">No two users look like one person.</p>
          ) : (
            <>
              <ul class="proposals">
                {proposals.slice(0, SHOWN).map((proposal) => (
                  <li key={`${proposal.userId}\n${proposal.alias}`}>
                    <p>
                      <b>
                        <bdi>{proposal.userId}</bdi>
                      </b>{' '}
                      and{' '}
                      <b>
                        <bdi>{proposal.alias}</bdi>
                      </b>
                    </p>
                    <p class="note">{REASONS[proposal.reason]}</p>
                    {isOwner && (
                      <div class="buttons">
                        <button
                          type="button"
                          class="main"
                          disabled={isBusy}
                          aria-label={`${proposal.userId} and ${proposal.alias} are the same person`}
                          onClick={() => merge(proposal)}
                        >
                          Same person
                        </button>
                      </div>
                    )}
                  </li>
                ))}
              </ul>
              {proposals.length > SHOWN && <p class="note">and {proposals.length - SHOWN} more</p>}
            </>
          )
        }
      </Answered>
      <p class="note">
        Nothing is merged by itself. Removing the other name from the person separates them again.
      </p>
    </section>
  );
}
