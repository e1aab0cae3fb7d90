import type { ComponentType } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { go, hrefOf, parseAddress, useAddress } from './address.js';
import type { Answers } from './answers.js';
import { CALLER, forget, onChange, sendJson, useAnswer } from './client.js';
import mark from './mark.svg';
import { Overview } from './overview.js';
import type { PageProps } from './page-props.js';
import { Problem } from './panel.js';
import { may, type Session } from './session.js';
import { SignIn } from './sign-in.js';

const groupPage = async () => (await import('./group-page.js')).GroupPage;

/** The pages: their first part of the path, name, what a role must be allowed to do, and how they are loaded. */
const PAGES: readonly {
  readonly path: string;
  readonly name: string;
  readonly action?: Session['actions'][number];
  readonly load: () => Promise<ComponentType<PageProps>>;
}[] = [
  { path: '', name: 'Overview', action: 'read its own analytics', load: async () => Overview },
  { path: 'people', name: 'People', action: 'read analytics', load: groupPage },
  { path: 'repositories', name: 'Repositories', action: 'read its own analytics', load: groupPage },
  { path: 'models', name: 'Models', action: 'read its own analytics', load: groupPage },
  {
    path: 'trust',
    name: 'Trust',
    action: 'read analytics',
    load: async () => (await import('./trust.js')).Trust,
  },
  {
    path: 'operations',
    name: 'Operations',
    action: 'use the page',
    load: async () => (await import('./operations/operations.js')).Operations,
  },
  {
    path: 'sql',
    name: 'SQL',
    action: 'run SQL',
    load: async () => (await import('./sql-page.js')).SqlPage,
  },
];

/** Closes menus when something else is pressed, or Escape. */
function closeMenus(event: MouseEvent | KeyboardEvent): void {
  if (event instanceof KeyboardEvent && event.key !== 'Escape') return;
  for (const menu of document.querySelectorAll<HTMLDetailsElement>('details.menu[open]')) {
    if (event instanceof MouseEvent && event.composedPath().includes(menu)) continue;
    if (event instanceof KeyboardEvent) menu.querySelector('summary')?.focus();
    menu.open = false;
  }
}

/** Follows links of the page itself without loading it again. */
function follow(event: MouseEvent): void {
  const link = (event.target as Element).closest?.('a');
  if (!link || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || link.target !== '' || link.hasAttribute('download'))
    return;
  const { origin, pathname, search, hash } = new URL(link.href);
  const address = parseAddress({ pathname, search });
  if (
    origin !== location.origin ||
    hash !== '' ||
    !PAGES.some(({ path }) => path === (address.path[0] ?? ''))
  )
    return;
  event.preventDefault();
  go(address);
  if (address.path.join() !== parseAddress(location).path.join()) window.scrollTo(0, 0);
}

/** The token of a link that signs in, taken from the address so that no copy of it stays in the history. */
function takeToken(): string | undefined {
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (token !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return token;
}

export function App() {
  const [round, setRound] = useState(0);
  const [isReady, setIsReady] = useState(!location.hash.startsWith('#token='));
  const [fault, setFault] = useState('');
  useEffect(() => {
    const token = takeToken();
    if (token === undefined) return;
    sendJson('POST', 'sign-in', { token })
      .catch((error: Error) => setFault(error.message))
      .finally(() => setIsReady(true));
  }, []);
  useEffect(() => onChange(() => setRound((last) => last + 1)), []);
  return isReady ? <Signed key={round} fault={fault} again={() => setRound(round + 1)} /> : null;
}

function Signed({ fault, again }: { fault: string; again: () => void }) {
  const { answer, error } = useAnswer<Answers['getCaller']>(CALLER);
  // Nothing of who was signed in before stays.
  useEffect(forget, []);
  if (error?.status === 401) return <SignIn fault={fault} onDone={again} />;
  if (error !== undefined)
    return (
      <main>
        <Problem error={error} again={again} />
      </main>
    );
  return answer === undefined ? null : <Frame session={answer.data} again={again} />;
}

/** Says why there is nothing to see, and where there is. */
function Refusal({ text }: { text: string }) {
  return (
    <div class="problem">
      <p>{text}</p>
      <a href={hrefOf({ ...parseAddress(location), path: [], choices: {} })}>Overview</a>
    </div>
  );
}

/** What charts lay over days: stripes through what isn't finished, and where nothing is built. */
function Patterns() {
  const shared = { width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' };
  return (
    <svg class="unseen" aria-hidden="true">
      <pattern id="unfinished" {...shared}>
        <rect width="3" height="6" fill="var(--surface)" />
      </pattern>
      <pattern id="unbuilt" {...shared}>
        <rect width="1" height="6" fill="var(--line-strong)" />
      </pattern>
    </svg>
  );
}

function Frame({ session, again }: { session: Session; again: () => void }) {
  const address = useAddress();
  const [{ Page, shown }, setPage] = useState<{ Page?: ComponentType<PageProps>; shown?: string }>({});
  const place = address.path[0] ?? '';
  const page = PAGES.find(({ path }) => path === place);
  useEffect(() => {
    document.addEventListener('click', follow);
    document.addEventListener('click', closeMenus);
    document.addEventListener('keydown', closeMenus);
    return () => {
      document.removeEventListener('click', follow);
      document.removeEventListener('click', closeMenus);
      document.removeEventListener('keydown', closeMenus);
    };
  }, []);
  useEffect(() => {
    document.title = `${page?.name ?? 'Nothing here'} · Daybook`;
    // On a phone the names of pages scroll.
    document
      .querySelector('.head nav [aria-current]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    let isWanted = true;
    page?.load().then((loaded) => isWanted && setPage({ Page: loaded, shown: place }));
    return () => {
      isWanted = false;
    };
  }, [place]);
  const signOut = useCallback(async () => {
    await sendJson('POST', 'sign-out');
    again();
  }, [again]);
  const allowed = PAGES.filter(({ action }) => action === undefined || session.actions.includes(action));
  return (
    <>
      <Patterns />
      <header class="head">
        <a class="name" href={hrefOf({ ...address, path: [] })}>
          <img src={mark} alt="" width="16" height="16" /> Daybook
        </a>
        <span class="org">{session.org_id}</span>
        <nav aria-label="Pages">
          {allowed.map(({ path, name }) => (
            <a
              key={path}
              href={hrefOf({ ...address, path: path === '' ? [] : [path], choices: {} })}
              aria-current={path === place ? 'page' : undefined}
            >
              {name}
            </a>
          ))}
        </nav>
        <details class="menu">
          <summary>{session.user_id ?? session.role}</summary>
          <div>
            <p>
              {session.role} of {session.org_id}
            </p>
            <button type="button" onClick={signOut}>
              Sign out
            </button>
          </div>
        </details>
      </header>
      <main>
        {page === undefined ? (
          <Refusal text="There is no page here." />
        ) : !allowed.includes(page) ? (
          <Refusal
            text={
              may(session, 'read its own analytics')
                ? 'Your role sees your own numbers only.'
                : 'Your role may see no numbers.'
            }
          />
        ) : Page === undefined || shown !== place ? null : (
          <Page address={address} session={session} />
        )}
      </main>
    </>
  );
}
