import { useState } from 'preact/hooks';
import type { Answers, ControlsChange } from '../answers.js';
import { useFresh, withQuery } from '../client.js';
import { instantText } from '../format.js';
import { Paging } from '../paging.js';
import { Answered } from '../panel.js';
import type { Session } from '../session.js';
import { Ask } from './dialog.js';
import { Differences } from './differences.js';
import { CONTROLS, saveSettings } from './settings-revisions.js';

/** All revisions of the settings, with their changes, and a way to revert to them. */
export function History({
  session,
  current,
  isEditor,
  saved,
}: {
  session: Session;
  current: number;
  isEditor: boolean;
  saved: (sentence: string) => void;
}) {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const asked = useFresh<Answers['getOrganizationEnterpriseControlsHistory']>(
    withQuery(`${CONTROLS}/history`, { cursor: cursors.at(-1) }),
  );
  const [asking, setAsking] = useState<ControlsChange>();
  const next = asked.isLoading ? undefined : asked.answer?.pagination.nextCursor;
  return (
    <section class="panel" aria-labelledby="history-title">
      <header>
        <h2 id="history-title">History</h2>
        <p class="note">newest first, UTC</p>
      </header>
      <Answered asked={asked}>
        {({ changes }) =>
          changes.length === 0 ? (
            <p class="note none">
              Nobody has changed the settings yet.
              {isEditor && ' Write some into the editor, for example {"sessionRetentionDays": 90}.'}
            </p>
          ) : (
            <ol class="history">
              {changes.map((change) => (
                <li key={change.revision} data-revision={change.revision}>
                  <Change change={change} />
                  {isEditor && change.revision !== current && (
                    <button
                      type="button"
                      aria-label={`Go back to revision ${change.revision}`}
                      onClick={() => setAsking(change)}
                    >
                      Go back
                    </button>
                  )}
                </li>
              ))}
            </ol>
          )
        }
      </Answered>
      <Paging cursors={cursors} next={next} turn={setCursors} names={['Newer', 'Older']} />
      {asking !== undefined && (
        <Ask
          title={`Go back to revision ${asking.revision}?`}
          action={`Go back to revision ${asking.revision}`}
          act={async () => {
            const { revision } = await saveSettings(session.org_id, asking.settings, current);
            saved(`Revision ${revision} is saved. It has the settings of revision ${asking.revision}.`);
          }}
          onClose={() => setAsking(undefined)}
        >
          <p>
            This saves revision {current + 1} with the settings of revision {asking.revision}. Secrets keep
            the values that they have now. It changes:
          </p>
          <Differences from={current} to={asking.revision} />
        </Ask>
      )}
    </section>
  );
}

/** One change. Its differences are only read when they are opened. */
function Change({ change: { revision, user, updatedAt } }: { change: ControlsChange }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <b>Revision {revision}</b> <bdi>{user.name}</bdi> <span class="note">{instantText(updatedAt)}</span>
      </summary>
      {isOpen && <Differences from={revision - 1} to={revision} />}
    </details>
  );
}
