import { useState } from 'preact/hooks';
import type { Answers } from '../answers.js';
import { sendJson, useFresh, withQuery } from '../client.js';
import { instantText } from '../format.js';
import type { PageProps } from '../page-props.js';
import { Paging } from '../paging.js';
import { Answered } from '../panel.js';
import { may } from '../session.js';
import { Done } from './dialog.js';
import { Field, Form, type Texts } from './fields.js';

type Found = Answers['getPrivacy'];
type Changed = Answers['getPrivacyHistory']['changes'][number];

const PATH = 'api/v0/organization/privacy';

/** Who may see people by name, and for owners a form that changes it. */
export function Privacy({ session }: PageProps) {
  const asked = useFresh<Found>(PATH);
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const history = useFresh<Answers['getPrivacyHistory']>(
    withQuery(`${PATH}/history`, { limit: 10, cursor: cursors.at(-1) }),
  );
  const [done, setDone] = useState('');
  const isOwner = may(session, 'change privacy');
  return (
    <div class="panels loose">
      <div class="panel-stack span-8">
        <section class="panel" aria-labelledby="privacy-title">
          <header>
            <h2 id="privacy-title">Who sees people by name</h2>
          </header>
          <Done text={done} />
          <Answered asked={asked}>{(found) => <InWords found={found} />}</Answered>
        </section>
        <section class="panel" aria-labelledby="privacy-history-title">
          <header>
            <h2 id="privacy-history-title">History</h2>
            <p class="note">newest first, UTC</p>
          </header>
          <Answered asked={history}>{({ changes }) => <History changes={changes} />}</Answered>
          <Paging
            cursors={cursors}
            next={history.isLoading ? undefined : history.answer?.pagination.nextCursor}
            turn={setCursors}
            names={['Newer', 'Older']}
          />
        </section>
      </div>
      {isOwner && asked.answer !== undefined && (
        <section class="panel span-4" aria-labelledby="change-title">
          <header>
            <h2 id="change-title">Change it</h2>
          </header>
          <Change
            key={asked.answer.revision}
            found={asked.answer}
            changed={() => {
              setDone('It counts from now on: load the page again to see what you see.');
              asked.again();
              setCursors([]);
              history.again();
            }}
          />
        </section>
      )}
    </div>
  );
}

function InWords({ found: { mode, smallestGroup, auditors, auditorCount, seesNames } }: { found: Found }) {
  if (mode === 'open')
    return <p>The organization is open: owners and managers see everybody’s numbers by name.</p>;
  const people = auditorCount === 1 ? '1 auditor sees' : `${auditorCount} auditors see`;
  return (
    <>
      <p>
        The organization is protected: people are shown in groups of at least {smallestGroup}, and members see
        their own numbers.
      </p>
      <p>
        {auditorCount === 0
          ? 'Nobody sees people by name.'
          : `${people} people by name, and each read is recorded`}
        {auditors !== null && auditors.length > 0 && (
          <>
            : <bdi>{auditors.join(', ')}</bdi>
          </>
        )}
        {auditorCount > 0 && '.'} {seesNames && 'You do.'}
      </p>
    </>
  );
}

function History({ changes }: { changes: readonly Changed[] }) {
  if (changes.length === 0)
    return <p class="note none">Nobody has changed it yet: organizations are open at first.</p>;
  return (
    <ol class="history">
      {changes.map((change) => (
        <li key={change.revision}>
          <div>
            <bdi>{settingsOf(change)}</bdi>
            <p class="note">
              {instantText(change.changedAt)}
              <AuthorOf change={change} />
            </p>
          </div>
        </li>
      ))}
    </ol>
  );
}

/** What counted after a change, in words. */
function settingsOf({ mode, smallestGroup, auditors, auditorCount }: Changed): string {
  const people = auditorCount === 1 ? '1 auditor' : `${auditorCount || 'no'} auditors`;
  const named = auditors === null || auditors.length === 0 ? people : `${people}: ${auditors.join(', ')}`;
  return mode === 'open' ? 'Open' : `Protected, groups of at least ${smallestGroup}, ${named}`;
}

/** Who made a change, and with what; only owners are told. */
function AuthorOf({ change: { changedBy, fingerprint } }: { change: Changed }) {
  if (changedBy === null) return null;
  return (
    <>
      {' '}
      by <bdi>{changedBy}</bdi>{' '}
      {fingerprint === null ? 'on the service’s machine' : `with the key ${fingerprint}`}
    </>
  );
}

function Change({ found, changed }: { found: Found; changed: () => void }) {
  const send = async ({ mode, smallestGroup, auditors = '' }: Texts) => {
    await sendJson(
      'PUT',
      PATH,
      {
        mode,
        smallestGroup: Number(smallestGroup),
        auditors: auditors.split(/[\s,;]+/).filter((name) => name !== ''),
      },
      { 'if-match': String(found.revision) },
    );
    changed();
  };
  return (
    <Form action="Change" send={send}>
      <Field label="People are">
        <select name="mode">
          <option value="open" selected={found.mode === 'open'}>
            open: owners and managers see names
          </option>
          <option value="protected" selected={found.mode === 'protected'}>
            protected: only auditors see names
          </option>
        </select>
      </Field>
      <Field
        label="Smallest group"
        hint="how many people a team, model or repository has at least that is shown"
      >
        <input name="smallestGroup" type="number" min={2} max={100} required value={found.smallestGroup} />
      </Field>
      <Field label="Auditors" hint="user ids, with commas between">
        <textarea name="auditors" rows={3} value={found.auditors?.join(', ') ?? ''} />
      </Field>
    </Form>
  );
}
