import { useState } from 'preact/hooks';
import type { Answers } from '../answers.js';
import { useFresh } from '../client.js';
import type { PageProps } from '../page-props.js';
import { Code, Problem } from '../panel.js';
import { may } from '../session.js';
import { Editor } from './controls-editor.js';
import { History } from './controls-history.js';
import { Done } from './dialog.js';
import { CONTROLS, textOf } from './settings-revisions.js';

export function Controls({ session }: PageProps) {
  const asked = useFresh<Answers['getOrganizationEnterpriseControls']>(CONTROLS);
  const [done, setDone] = useState('');
  const isEditor = may(session, 'change enterprise controls');
  if (asked.error !== undefined) return <Problem error={asked.error} again={asked.again} />;
  if (asked.answer === undefined) return <p class="note none">–</p>;
  const saved = (sentence: string) => {
    setDone(sentence);
    asked.again();
  };
  const { revision, settings } = asked.answer;
  return (
    <div class="panels loose">
      <section class="panel" aria-labelledby="settings-title">
        <header>
          <h2 id="settings-title">Settings</h2>
          <p class="note">{revision === 0 ? 'nothing is set yet' : `revision ${revision}`}</p>
        </header>
        <Done text={done} />
        {isEditor ? (
          <Editor current={asked.answer} reload={asked.again} saved={saved} />
        ) : (
          <>
            <Code text={textOf(settings)} />
            <p class="note">Your role reads them: an owner of the organization changes them.</p>
          </>
        )}
      </section>
      <History key={revision} current={revision} isEditor={isEditor} saved={saved} />
    </div>
  );
}
