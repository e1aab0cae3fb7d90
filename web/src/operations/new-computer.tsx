import { useState } from 'preact/hooks';
import type { Answers } from '../answers.js';
import { sendJson } from '../client.js';
import { may, type Session } from '../session.js';
import { Field, Form, type Texts } from './fields.js';

type Provider = Answers['createComputer']['providerType'];

/** Creates a computer. The fields are members of the API, and its errors are shown. */
export function NewComputer({
  session,
  created,
}: {
  session: Session;
  created: (computer: Answers['createComputer']) => void;
}) {
  const [provider, setProvider] = useState<Provider>('byom');
  const send = async ({ repos, autoInstallDeps, templateId, ...texts }: Texts) => {
    const computer = await sendJson<Answers['createComputer']>('POST', 'api/v0/computers', {
      ...texts,
      ...(repos === undefined ? {} : { repos: repos.split(/\s+/) }),
      ...(autoInstallDeps === undefined ? {} : { autoInstallDeps: true }),
      ...(templateId === undefined ? {} : { source: { kind: 'template', templateId } }),
    });
    created(computer);
    setProvider('byom');
  };
  return (
    <section class="panel span-4" aria-labelledby="new-computer-title">
      <header>
        <h2 id="new-computer-title">Create a computer</h2>
      </header>
      <Form action="Create computer" send={send}>
        <Field label="Name" hint="Lower-case letters, digits and hyphens.">
          <input name="name" required autocomplete="off" spellcheck={false} />
        </Field>
        <Field
          label="Machine"
          hint={
            provider === 'byom'
              ? 'You start the agent on it.'
              : 'The service makes it once E2B_API_KEY and DAYBOOK_PUBLIC_URL are set.'
          }
        >
          <select
            name="provider"
            value={provider}
            onChange={({ currentTarget }) => setProvider(currentTarget.value as Provider)}
          >
            <option value="byom">a machine that exists</option>
            <option value="e2b">a sandbox of E2B</option>
          </select>
        </Field>
        <Field label="User on the machine">
          <input name="remoteUser" required={provider === 'byom'} autocomplete="off" spellcheck={false} />
        </Field>
        {provider === 'e2b' && (
          <Field label="Template" hint="Empty: the one in DAYBOOK_E2B_TEMPLATE.">
            <input name="templateId" autocomplete="off" spellcheck={false} />
          </Field>
        )}
        <Field label="Repositories to clone" hint="One address per line, without passwords or tokens.">
          <textarea name="repos" rows={3} spellcheck={false} />
        </Field>
        <label class="check">
          <input type="checkbox" name="autoInstallDeps" /> Install their dependencies too
        </label>
        {may(session, 'create computers of service accounts') && (
          <Field label="Service account" hint="Empty: you own it.">
            <input name="serviceAccountId" autocomplete="off" spellcheck={false} />
          </Field>
        )}
        <Field label="Host id" hint="UUID of the machine, if you have one.">
          <input name="hostId" autocomplete="off" spellcheck={false} />
        </Field>
      </Form>
      <p class="note">
        <a href="docs">The API</a> has the same, and “daybook computers” does it in a terminal.
      </p>
    </section>
  );
}
