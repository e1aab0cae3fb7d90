import { useEffect, useRef, useState } from 'preact/hooks';
import { own } from '../../src/input/own.js';
import { begin, type ServiceError, sendJson } from './client.js';
import mark from './mark.svg';

/** The reasons why the provider's sign-in gave no session, by the word that the service puts into the address. */
const REASONS: Readonly<Record<string, string>> = {
  unavailable: 'The sign-in provider can’t be reached at the moment: try again, or use an API key.',
  late: 'Signing in took too long, or was done in another window: try again.',
  refused: 'The sign-in provider didn’t confirm who you are: try again.',
  claims:
    'The sign-in provider’s claims give you no organization or role: ask your administrator, who finds the claim in the log of the service.',
};

/** The form for signing in. */
export function SignIn({
  fault,
}: {
  /** The fault of a sign-in link. */
  fault: string;
}) {
  const [sentence, setSentence] = useState(
    fault || (own(REASONS, /^#sign-in=(\w+)$/.exec(location.hash)?.[1] ?? '') ?? ''),
  );
  const hasProvider = document.querySelector('base')?.dataset.signIn === 'provider';
  const [isBusy, setIsBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);

  async function submit(event: Event) {
    event.preventDefault();
    setIsBusy(true);
    try {
      await sendJson('POST', 'sign-in', { key: field.current?.value.trim() ?? '' });
      begin();
    } catch (error) {
      setSentence((error as ServiceError).message);
      field.current?.select();
    }
    setIsBusy(false);
  }

  return (
    <main class="sign-in">
      <h1>
        <img src={mark} alt="" width="24" height="24" /> Daybook
      </h1>
      {hasProvider && (
        <a class="button main" href="sign-in/provider">
          Sign in
        </a>
      )}
      <form onSubmit={submit}>
        <label for="key">{hasProvider ? 'Or use an API key' : 'API key'}</label>
        <input
          id="key"
          ref={field}
          type="password"
          autocomplete="current-password"
          placeholder="dbk_…"
          required
          spellcheck={false}
        />
        <button type="submit" class={hasProvider ? '' : 'main'} disabled={isBusy}>
          Sign in with this key
        </button>
        <p role="alert" class="bad">
          {sentence}
        </p>
      </form>
      <p class="note">
        On the machine of the service, <code>daybook open</code> prints a link that signs in, and{' '}
        <code>daybook keys create</code> makes a key.
      </p>
    </main>
  );
}
