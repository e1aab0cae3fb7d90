import { useState } from 'preact/hooks';
import type { Answers } from '../answers.js';
import { useFresh } from '../client.js';
import type { PageProps } from '../page-props.js';
import { Answered, Code } from '../panel.js';
import { may } from '../session.js';
import { Editor } from './controls-editor.js';
import { History } from './controls-history.js';
import { Done } from './dialog.js';
import { CONTROLS, textOf } from './settings-revisions.js';

export function Controls({ session }: PageProps) {
  const asked = useFresh<Answers['getOrganizationEnterpriseControls']>(CONTROLS);
  const [done, setDone] = useState('');
  const isEditor = may(session, 'change enterprise controls');
  const saved = (sentence: string) => {
    setDone(sentence);
    asked.again();
  };
  return (
    <Answered asked={asked}>
      {(current) => (
        <div class="panels loose">
          <section class="panel" aria-labelledby="settings-title">
            <header>
              <h2 id="settings-title">Settings</h2>
              <p class="note">
                {current.revision === 0 ? 'nothing is set yet' : `revision ${current.revision}`}
              </p>
            </header>
            <Done text={done} />
            {isEditor ? (
              <Editor session={session} current={current} reload={asked.again} saved={saved} />
            ) : (
              <>
                <Code text={textOf(current.settings)} />
                <p class="note">
                  Your role can only read the settings. An owner of the organization can change them.
                </p>
              </>
            )}
          </section>
          <History
            key={current.revision}
            session={session}
            current={current.revision}
            isEditor={isEditor}
            saved={saved}
          />
        </div>
      )}
    </Answered>
  );
}
