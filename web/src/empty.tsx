import { useEffect } from 'preact/hooks';
import { hrefOf, parseAddress, SERVER } from './address.js';
import type { Answers } from './answers.js';
import { begin, CALLER, useAgain, useAnswer } from './client.js';
import { locale } from './format.js';
import { Code } from './panel.js';
import { may, type Session } from './session.js';

/** How often the page checks whether there is something to show. */
const LOOK_MS = 5000;

/** The purpose of each page, shown while there are no numbers. */
const PAGES = [
  ['Overview', 'Who is active, what it costs, how far agents work alone.'],
  ['People, repositories, models', 'The same numbers for one of each. Members see only their own.'],
  ['Trust', 'Which days are complete, and why a number has changed.'],
] as const;

/** Lists what is needed first, and what each page will show. */
function Beside({ session }: { session: Session }) {
  return (
    <aside>
      <h2>Before you begin</h2>
      <dl>
        <div>
          <dt>You need an API key</dt>
          <dd>
            Of role member, for whoever works with the agent.{' '}
            {may(session, 'manage API keys') ? (
              <a href={hrefOf({ ...parseAddress(location), path: ['operations', 'keys'] })}>Create a key</a>
            ) : (
              'An owner creates it.'
            )}
          </dd>
        </div>
        <div>
          <dt>Only looking?</dt>
          <dd>
            <code>daybook serve --demo</code> in an empty folder has a sample.
          </dd>
        </div>
      </dl>
      <h2>What you will see</h2>
      <dl>
        {PAGES.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </aside>
  );
}

/** The first steps, shown until there is a built day. Charts then appear by themselves. */
export function Empty({ session }: { session: Session }) {
  const status = useAnswer<Answers['getStatus']>(
    may(session, 'read analytics') ? 'api/v1/status' : undefined,
  );
  const { events = 0, events_of_open_day = 0 } = status.answer?.data ?? {};
  const caller = useAnswer<Answers['getCaller']>(CALLER);
  const isOver = (caller.answer?.data.days.last ?? null) !== null || caller.error?.status === 401;
  useAgain(status, LOOK_MS);
  useAgain(caller, LOOK_MS);
  useEffect(() => {
    if (isOver) begin();
  }, [isOver]);
  return (
    <div class="empty">
      <div>
        <h1>{events > 0 ? 'Events are here, and no day is built yet' : 'No events yet: send some'}</h1>
        <p class="lead">
          Connect one agent and its numbers are here the next day. Daybook stores that something happened and
          when, never prompts, replies or code.
        </p>
        <ol>
          <li>
            <h2>Connect the agents on your computer</h2>
            <p>
              Sends the events of all agents that keep sessions there, every few minutes. Cursor and Windsurf
              keep none: the last line adds hooks. Prompts, replies and code stay on the machine.
            </p>
            <Code
              text={`npm install -g ${SERVER}/collector.tgz\ndaybook collect install --server ${SERVER} --key -\ndaybook hooks install --agent cursor --server ${SERVER} --key -`}
            />
          </li>
          <li>
            <h2>Or take in what is there already</h2>
            <p>
              Reads what agents have kept on the machine of the service, so that the charts begin in the past.
            </p>
            <Code
              text={`daybook ingest --org ${session.org_id} --source all --user ${session.user_id ?? 'ada'}\ndaybook build`}
            />
          </li>
          <li>
            <h2>Or send one event by hand</h2>
            <p>To see that the key and the address are right. It counts once, however often you send it.</p>
            <Code
              text={`curl ${SERVER}/api/v1/events \\\n  -H "Authorization: Bearer $DAYBOOK_KEY" -H "Content-Type: application/json" \\\n  -d '[{"event_id": "hello-1", "type": "user_message", "user_id": "me",\n       "session_id": "s-1", "timestamp": "${new Date().toISOString().slice(0, 19)}Z"}]'`}
            />
          </li>
        </ol>
        <p class="waiting" role="status">
          <b>
            {events > 0
              ? `${events.toLocaleString(locale)} events have arrived`
              : 'Waiting for the first event'}
          </b>{' '}
          {events === 0
            ? 'This page looks every five seconds.'
            : events === events_of_open_day
              ? 'They are of today, which counts when it is over: after 00:15 UTC. The charts come by themselves.'
              : 'Days that are over are built at night, or at once with "daybook build". The charts come by themselves.'}
        </p>
      </div>
      <Beside session={session} />
    </div>
  );
}
