import { useState } from 'preact/hooks';
import type { Answers } from '../answers.js';
import { sendJson, useFresh, withQuery } from '../client.js';
import { addDays, today } from '../days.js';
import { dateText } from '../format.js';
import type { PageProps } from '../page-props.js';
import { Paging } from '../paging.js';
import { Answered } from '../panel.js';
import { ScrolledTable } from '../scrolled-table.js';
import { may } from '../session.js';
import { Ask, Done } from './dialog.js';
import { Field, Form, type Texts } from './fields.js';
import { ShownOnce } from './shown-once.js';

type Key = Answers['listApiKeys']['data'][number];

const PATH = 'api/v1/api-keys';

/** The permissions of each role, for people who create a key. */
const ROLES: Readonly<Record<Key['role'], string>> = {
  owner: 'everything, also controls and keys',
  manager: 'the numbers of everybody, SQL, computers',
  member: 'own numbers only, computers',
  guest: 'computers and readiness, to read',
  ingest: 'send events, and nothing else',
  scim: 'say who the people are, and nothing else',
};

export function Keys({ session }: PageProps) {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const asked = useFresh<Answers['listApiKeys']>(withQuery(PATH, { limit: 50, cursor: cursors.at(-1) }));
  const [made, setMade] = useState<readonly Answers['createApiKey'][]>([]);
  const [asking, setAsking] = useState<Key>();
  const [done, setDone] = useState('');
  const created = (key: Answers['createApiKey']) => {
    setDone('');
    setMade((all) => [...all, key]);
    setCursors([]);
    asked.again();
  };
  return (
    <div class="panels loose">
      {made.map((key) => (
        <ShownOnce
          key={key.key_id}
          title={`The new key ${labelOf(key)}`}
          sentence="Copy it now: Daybook stores only its checksum, so nobody can see it again."
          text={key.key}
          onDone={() => setMade((all) => all.filter((other) => other !== key))}
        />
      ))}
      <section class="panel span-8" aria-labelledby="keys-title">
        <header>
          <h2 id="keys-title">Keys of {session.org_id}</h2>
          <p class="note">newest first, days in UTC</p>
        </header>
        <Done text={done} />
        <Answered asked={asked}>{({ data }) => <KeyTable keys={data} revoke={setAsking} />}</Answered>
        <Paging
          cursors={cursors}
          next={asked.isLoading ? undefined : asked.answer?.meta.next_cursor}
          turn={setCursors}
        />
      </section>
      <div class="panel-stack">
        <NewKey session={session} created={created} />
        <Sessions orgId={session.org_id} say={setDone} />
      </div>
      {asking !== undefined && (
        <Ask
          title={
            <>
              Revoke the key <bdi>{labelOf(asking)}</bdi>?
            </>
          }
          action="Revoke"
          act={async () => {
            await sendJson('DELETE', `${PATH}/${asking.key_id}`);
            setDone(`The key ${labelOf(asking)} is revoked.`);
            asked.again();
          }}
          onClose={() => setAsking(undefined)}
        >
          <p>
            Whatever uses it is refused from the next request on, and browsers that signed in with it are
            signed out. A revoked key can’t be brought back.
          </p>
          {asking.is_current && (
            <p>
              <b>You are signed in with this key:</b> the page will ask you to sign in with another one.
            </p>
          )}
        </Ask>
      )}
    </div>
  );
}

/** The name by which people know a key. */
function labelOf({ name, fingerprint }: Pick<Key, 'name' | 'fingerprint'>): string {
  return name ?? fingerprint;
}

/** Whether a key no longer works. */
function isOver({ revoked_at, expires_at }: Key): boolean {
  return revoked_at !== null || (expires_at !== null && expires_at <= Date.now());
}

/** Whether a key works, as text. */
function stateOf(key: Key): string {
  const { revoked_at, expires_at } = key;
  if (revoked_at !== null) return `revoked ${dateText(revoked_at)}`;
  if (expires_at === null) return 'valid';
  // The last day on which the key works.
  return `${isOver(key) ? 'expired' : 'valid until'} ${dateText(expires_at - 1)}`;
}

const COLUMNS = [
  ...['Key', 'Role', 'User', 'Created', 'State'],
  <span key="revoke" class="unseen">
    Revoke
  </span>,
];

function KeyTable({ keys, revoke }: { keys: readonly Key[]; revoke: (key: Key) => void }) {
  if (keys.length === 0)
    return (
      <p class="note none">There is no key yet: create one, for example for a program that sends events.</p>
    );
  return (
    <ScrolledTable label="API keys" class="things" columns={COLUMNS}>
      {keys.map((key) => (
        <tr key={key.key_id} class={isOver(key) ? 'over' : ''}>
          <th scope="row">
            <bdi>{key.name ?? 'no name'}</bdi>
            {key.is_current && <span class="note"> (yours)</span>}
            <code title="Names the key in logs">{key.fingerprint}</code>
          </th>
          <td>{key.role}</td>
          <td>
            <bdi title={key.user_id ?? ''}>{key.user_id ?? '–'}</bdi>
          </td>
          <td>
            {dateText(key.created_at)}
            {key.created_by !== null && (
              <span class="note">
                {' '}
                by <bdi title={key.created_by}>{key.created_by}</bdi>
              </span>
            )}
          </td>
          <td>{stateOf(key)}</td>
          <td class="number">
            {key.revoked_at === null && (
              <button type="button" aria-label={`Revoke ${labelOf(key)}`} onClick={() => revoke(key)}>
                Revoke
              </button>
            )}
          </td>
        </tr>
      ))}
    </ScrolledTable>
  );
}

function NewKey({
  session,
  created,
}: Pick<PageProps, 'session'> & { created: (key: Answers['createApiKey']) => void }) {
  const [role, setRole] = useState<Key['role']>('manager');
  const send = async ({ last_day, ...texts }: Texts) => {
    const expires_at = last_day === undefined ? undefined : Date.parse(addDays(last_day, 1));
    created(await sendJson('POST', PATH, { ...texts, expires_at }));
    setRole('manager');
  };
  return (
    <section class="panel" aria-labelledby="new-key-title">
      <header>
        <h2 id="new-key-title">Create a key</h2>
      </header>
      <Form action="Create key" send={send}>
        <Field label="Name" hint="What it is for, so that you know later which to revoke.">
          <input name="name" required autocomplete="off" />
        </Field>
        <Field label="Role" hint={ROLES[role]}>
          <select
            name="role"
            value={role}
            onChange={({ currentTarget }) => setRole(currentTarget.value as Key['role'])}
          >
            {Object.keys(ROLES).map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </Field>
        <Field
          label="User"
          hint={
            may(session, 'see people by name')
              ? role === 'member'
                ? 'The person whose numbers it shows.'
                : 'The person who uses it, if there is one.'
              : 'Yourself, or nobody: people are protected, so only an auditor makes keys of others.'
          }
        >
          <input name="user_id" required={role === 'member'} autocomplete="off" />
        </Field>
        <Field label="Last day" hint="In UTC. Without one it never ends.">
          <input name="last_day" type="date" min={today()} />
        </Field>
      </Form>
    </section>
  );
}

/** Signs out browsers, while keys stay valid. */
function Sessions({ orgId, say }: { orgId: string; say: (sentence: string) => void }) {
  const [asking, setAsking] = useState<{ user: string | undefined }>();
  const whose = asking?.user === undefined ? `everybody in ${orgId}` : asking.user;
  return (
    <section class="panel" aria-labelledby="sessions-title">
      <header>
        <h2 id="sessions-title">Sign out browsers</h2>
      </header>
      <Form action="Sign out…" send={async ({ user }) => setAsking({ user })}>
        <Field label="Signed-in user" hint="Empty: everybody in the organization, you too.">
          <input name="user" autocomplete="off" />
        </Field>
      </Form>
      {asking !== undefined && (
        <Ask
          title={
            <>
              Sign out <bdi>{whose}</bdi>?
            </>
          }
          action="Sign out"
          act={async () => {
            await sendJson('DELETE', withQuery('api/v1/sessions', { user_id: asking.user }));
            say(`All browsers of ${whose} are signed out.`);
          }}
          onClose={() => setAsking(undefined)}
        >
          <p>
            Every browser of {asking.user === undefined ? 'the organization' : 'this user'} has to sign in
            again. Keys stay valid: revoke the key first if somebody shouldn’t come back.
          </p>
        </Ask>
      )}
    </section>
  );
}
