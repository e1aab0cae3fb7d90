import { useState } from 'preact/hooks';
import { SERVER } from '../address.js';
import type { Answers, Computer, ProvisioningStep } from '../answers.js';
import { type ServiceError, sendJson, useAgain, useFresh } from '../client.js';
import { instantText } from '../format.js';
import type { PageProps } from '../page-props.js';
import { Answered } from '../panel.js';
import { may, type Session } from '../session.js';
import { Ask, Done } from './dialog.js';
import { NewComputer } from './new-computer.js';
import { ShownOnce } from './shown-once.js';
import { Upload } from './upload.js';

const PATH = 'api/v0/computers';

/** How many milliseconds pass before the list is read again: while something is under way, and otherwise. */
const POLL = { busy: 2000, calm: 15_000 };

export function Computers({ session }: PageProps) {
  const asked = useFresh<Answers['listComputers']>(`${PATH}?includeProvisioningSteps=true`);
  const [made, setMade] = useState<readonly Answers['createComputer'][]>([]);
  const [asking, setAsking] = useState<Computer>();
  const [done, setDone] = useState('');
  useAgain(asked, asked.answer?.computers.some(isUnderWay) ? POLL.busy : POLL.calm);
  const created = (computer: Answers['createComputer']) => {
    setDone(computer.agentToken === undefined ? `The computer ${computer.name} is being created.` : '');
    if (computer.agentToken !== undefined) setMade((all) => [...all, computer]);
    asked.again();
  };
  return (
    <div class="panels loose">
      {made.map((computer) => (
        <ShownOnce
          key={computer.id}
          title={`The agent token of ${computer.name}`}
          sentence="Run this on the computer. The token is shown only once. Anyone who has it can connect as this computer."
          text={`npm install -g ${SERVER}/collector.tgz\ndaybook agent --server ${SERVER} --token ${computer.agentToken} --workspace ~/work`}
          onDone={() => setMade((all) => all.filter((other) => other !== computer))}
        />
      ))}
      <section
        class={`plain ${may(session, 'create computers') ? 'span-8' : 'span-12'}`}
        aria-label="Computers"
      >
        <Done text={done} />
        <Answered asked={asked}>
          {({ computers }) =>
            computers.length === 0 ? (
              <p class="note none">
                There is no computer yet.{' '}
                {may(session, 'create computers')
                  ? 'Create one here, then start the agent on it with the line that you get.'
                  : 'Ask a member of the organization to create one.'}
              </p>
            ) : (
              <ul class="cards">
                {computers.map((computer) => (
                  <Card
                    key={computer.id}
                    computer={computer}
                    session={session}
                    remove={() => setAsking(computer)}
                    changed={(sentence) => {
                      setDone(sentence);
                      asked.again();
                    }}
                  />
                ))}
              </ul>
            )
          }
        </Answered>
      </section>
      {may(session, 'create computers') && <NewComputer session={session} created={created} />}
      {asking !== undefined && (
        <Ask
          title={
            <>
              Delete the computer <bdi>{asking.name}</bdi>?
            </>
          }
          action="Delete"
          act={async () => {
            await sendJson('DELETE', `${PATH}/${asking.id}`);
            setDone(`The computer ${asking.name} is deleted.`);
            setMade((all) => all.filter(({ id }) => id !== asking.id));
            asked.again();
          }}
          onClose={() => setAsking(undefined)}
        >
          <p>
            {asking.providerType === 'byom'
              ? 'Its agent is disconnected, and its token no longer works. The machine and its files stay as they are.'
              : 'Its sandbox is removed, with all files in it. That can’t be undone.'}
          </p>
        </Ask>
      )}
    </div>
  );
}

/** Whether the service or the agent is working on it. A step can also wait for an agent that nobody has started. */
function isUnderWay({ status, connectedAt, provisioningSteps = [] }: Computer): boolean {
  return (
    status === 'provisioning' ||
    (connectedAt !== null &&
      provisioningSteps.some((step) => ['pending', 'in_progress'].includes(step.status)))
  );
}

/** Whether this user may change the computer: as its owner, or by the permission to change other people's. */
function mayChange(session: Session, { ownerPrincipalKind, ownerId }: Computer): boolean {
  if (may(session, "change another person's computers")) return true;
  // A key without a user owns what it creates. Only the service knows whether it is this key.
  const isOwn = ownerPrincipalKind === 'human' ? ownerId === session.user_id : session.user_id === null;
  return isOwn && may(session, 'change computers');
}

function mayUpload(session: Session, { ownerPrincipalKind, ownerId }: Computer): boolean {
  if (ownerPrincipalKind === 'human')
    return ownerId === session.user_id && may(session, 'upload files to computers');
  return (
    may(session, 'upload files to computers of service accounts') ||
    (session.user_id === null && may(session, 'upload files to computers'))
  );
}

const STATES: Readonly<Record<Computer['status'], readonly [dot: string, word: string]>> = {
  active: ['state ok', 'active'],
  provisioning: ['state', 'being made ready'],
  error: ['state failed', 'failed'],
};

function Card({
  computer,
  session,
  remove,
  changed,
}: {
  computer: Computer;
  session: Session;
  remove: () => void;
  changed: (sentence: string) => void;
}) {
  const { id, name, status, providerType, connectedAt, hostname, remoteUser, ownerId, createdAt } = computer;
  const [dot, word] = STATES[status];
  const [fault, setFault] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const retry = async () => {
    setIsBusy(true);
    setFault('');
    try {
      await sendJson('POST', `${PATH}/${id}/retry`);
      changed(`The failed steps of ${name} are tried again.`);
    } catch (error) {
      setFault((error as ServiceError).message);
    }
    setIsBusy(false);
  };
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Agent', connectedAt === null ? 'not connected' : `connected since ${instantText(connectedAt)}`],
    [
      'Machine',
      [providerType === 'e2b' ? 'sandbox of E2B' : 'own machine', hostname].filter(Boolean).join(', '),
    ],
    ['User on it', remoteUser],
    ['Owner', ownerId],
    ['Created', instantText(createdAt)],
  ];
  return (
    <li class="panel" data-computer={name}>
      <header>
        <h2>{name}</h2>
        <p class="note">
          <i class={dot} />
          {word}
        </p>
      </header>
      <dl class="pairs">
        {facts.map(
          ([what, text]) =>
            text !== undefined && (
              <div key={what}>
                <dt>{what}</dt>
                <dd>
                  <bdi>{text}</bdi>
                </dd>
              </div>
            ),
        )}
      </dl>
      <Steps steps={computer.provisioningSteps ?? []} />
      <p role="alert" class="bad">
        {fault}
      </p>
      {mayUpload(session, computer) && <Upload computer={computer} />}
      {mayChange(session, computer) && (
        <div class="buttons">
          {status === 'error' && (
            <button
              type="button"
              disabled={isBusy}
              onClick={retry}
              aria-label={`Try the failed steps of ${name} again`}
            >
              Try again
            </button>
          )}
          {may(session, 'delete computers') && (
            <button type="button" onClick={remove} aria-label={`Delete ${name}`}>
              Delete
            </button>
          )}
        </div>
      )}
    </li>
  );
}

const STEPS: Readonly<Record<ProvisioningStep['name'], string>> = {
  'create-computer': 'Create the machine',
  'configure-user': 'Set up the user and the agent',
  'clone-repos': 'Clone the repositories',
  'install-dependencies': 'Install the dependencies',
};

const STEP_STATES: Readonly<Record<ProvisioningStep['status'], readonly [dot: string, word: string]>> = {
  pending: ['state waits', 'waits'],
  in_progress: ['state', 'under way'],
  completed: ['state ok', 'done'],
  failed: ['state failed', 'failed'],
};

function Steps({ steps }: { steps: readonly ProvisioningStep[] }) {
  return (
    <ol class="steps">
      {steps.map(({ id, name, status, error, completedAt }) => {
        const [dot, word] = STEP_STATES[status];
        return (
          <li key={id} data-step={name} data-status={status}>
            <i class={dot} />
            {STEPS[name]}: {word}
            {completedAt !== undefined && <span class="note"> {instantText(completedAt)}</span>}
            {error !== undefined && <pre class="bad">{error}</pre>}
          </li>
        );
      })}
    </ol>
  );
}
