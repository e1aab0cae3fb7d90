import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Answers } from '../answers.js';
import { type ServiceError, send } from '../client.js';
import type { Session } from '../session.js';
import { Ask } from './dialog.js';
import { Differences } from './differences.js';
import type { Fault } from './settings-check.js';
import { CONTROLS, saveSettings, textOf } from './settings-revisions.js';

type Current = Answers['getOrganizationEnterpriseControls'];

/** The revision that a text is based on. */
interface Base {
  readonly revision: number;
  readonly text: string;
}

const baseOf = ({ revision, settings }: Pick<Current, 'revision' | 'settings'>): Base => ({
  revision,
  text: textOf(settings),
});

/** The unsaved text. It survives visits to other pages, and signing in again. */
let unsaved: { readonly writer: string; readonly base: Base; readonly text: string } | undefined;
const warn = (event: BeforeUnloadEvent) => event.preventDefault();

/** How many faults are named at a time. */
const FAULTS = 5;

/** An editor of the settings. They are checked by the service's own schema before they are sent. */
export function Editor({
  session,
  current,
  reload,
  saved,
}: {
  session: Session;
  current: Current;
  reload: () => void;
  saved: (sentence: string) => void;
}) {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const writer = `${session.org_id} ${session.user_id ?? session.role}`;
  const kept = unsaved?.writer === writer ? unsaved : undefined;
  /** Stays the same if somebody else saves another revision. */
  const [base, setBase] = useState(() => kept?.base ?? baseOf(current));
  const [text, setText] = useState(kept?.text ?? base.text);
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  const [newer, setNewer] = useState<Current>();
  const [isBusy, setIsBusy] = useState(false);
  const [isDiscarding, setIsDiscarding] = useState(false);
  const isChanged = text !== base.text;

  const take = (taken: Base) => {
    // Done even if the user has left the settings meanwhile.
    unsaved = undefined;
    setBase(taken);
    setText(taken.text);
    setFaults([]);
    setNewer(undefined);
  };
  // Reverting to an earlier revision also saves a new one.
  useEffect(() => {
    if (!isChanged && current.revision !== base.revision) take(baseOf(current));
  }, [current.revision]);
  // Before the page is painted, or a link that is followed at once would lose it.
  useLayoutEffect(() => {
    unsaved = isChanged ? { writer, base, text } : undefined;
    if (isChanged) window.addEventListener('beforeunload', warn);
    else window.removeEventListener('beforeunload', warn);
  }, [isChanged, writer, base, text]);

  const show = ({ from, to }: Fault) => {
    field.current?.focus();
    field.current?.setSelectionRange(from, to);
  };

  async function save(event: Event) {
    event.preventDefault();
    setIsBusy(true);
    setNewer(undefined);
    try {
      const { checkSettings, faultOf } = await import('./settings-check.js');
      const checked = await checkSettings(text);
      setFaults(checked.faults);
      if ('settings' in checked) {
        try {
          const change = await saveSettings(session.org_id, checked.settings, base.revision);
          take(baseOf(change));
          saved(`Revision ${change.revision} is saved.`);
        } catch (error) {
          const { status, message } = error as ServiceError;
          if (status === 412) setNewer(await (await send(CONTROLS)).json());
          else setFaults([faultOf(text, message)]);
        }
      }
    } catch (error) {
      setFaults([{ sentence: (error as ServiceError).message, line: 1, column: 1, from: 0, to: 0 }]);
    }
    setIsBusy(false);
  }

  return (
    <form class="settings" onSubmit={save}>
      <textarea
        ref={field}
        aria-label="Settings as JSON"
        aria-invalid={faults.length > 0}
        aria-describedby={`${id}-faults`}
        spellcheck={false}
        rows={24}
        readOnly={isBusy}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div id={`${id}-faults`} role="alert">
        {faults.length > 0 && (
          <ul class="faults bad">
            {faults.slice(0, FAULTS).map((fault) => (
              <li key={`${fault.from} ${fault.sentence}`}>
                <button type="button" onClick={() => show(fault)}>
                  Line {fault.line}, column {fault.column}
                </button>{' '}
                <bdi>{fault.sentence}</bdi>
              </li>
            ))}
            {faults.length > FAULTS && <li>and {faults.length - FAULTS} more.</li>}
          </ul>
        )}
      </div>
      {newer !== undefined && (
        <div class="conflict" role="alert">
          <p>
            <b>
              <bdi>{newer.user?.name}</bdi> has saved revision {newer.revision} meanwhile.
            </b>{' '}
            Your text is kept, and nothing of it is saved. This is what has changed since revision{' '}
            {base.revision}:
          </p>
          <Differences from={base.revision} to={newer.revision} />
          <p>
            Put these changes into your text where you want them, then save it over revision {newer.revision}.
          </p>
          <div class="buttons">
            <button
              type="button"
              onClick={() => {
                setBase(baseOf(newer));
                setNewer(undefined);
                reload();
                field.current?.focus();
              }}
            >
              Continue with my text
            </button>
            <button type="button" onClick={() => setIsDiscarding(true)}>
              Discard my text
            </button>
          </div>
        </div>
      )}
      <p class="note">
        A secret is shown as ***, and stays as it is if you leave that. <a href="docs">The reference</a> names
        every member that is checked (EnterpriseControls).
      </p>
      <div class="buttons">
        <button type="submit" class="main" disabled={isBusy || !isChanged}>
          Save
        </button>
        <button type="button" disabled={!isChanged || isBusy} onClick={() => setIsDiscarding(true)}>
          Discard changes
        </button>
      </div>
      {isDiscarding && (
        <Ask
          title="Discard your changes?"
          action="Discard"
          act={async () => {
            take(newer === undefined ? base : baseOf(newer));
            if (newer !== undefined) reload();
          }}
          onClose={() => setIsDiscarding(false)}
        >
          <p>The text is replaced by revision {newer?.revision ?? base.revision}.</p>
        </Ask>
      )}
    </form>
  );
}
