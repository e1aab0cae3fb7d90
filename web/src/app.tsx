import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { go, hrefOf, parseAddress, useAddress } from './address.js';
import type { Answers } from './answers.js';
import { begin, CALLER, onChange, ServiceError, sendJson, useAnswer } from './client.js';
import mark from './mark.svg';
import { closeMenu } from './menu.js';
import { Overview } from './overview.js';
import type { PageProps } from './page-props.js';
import { Problem } from './panel.js';
import { may, type Session } from './session.js';
import { SignIn } from './sign-in.js';
import { useTitle } from './title.js';
import { UnknownParameters } from './unknown-parameters.js';

const groupPage = async () => (await import('./group-page.js')).GroupPage;

/** The pages: the first segment of the path, the name, the action that a role needs, and how to load it. */
const PAGES: readonly {
  readonly path: string;
  readonly name: string;
  readonly action: Session['actions'][number];
  /** Whether links on other pages lead to it, and no menu. */
  readonly isHidden?: boolean;
  readonly load: () => Promise<ComponentType<PageProps>>;
}[] = [
  { path: '', name: 'Overview', action: 'read its own analytics', load: async () => Overview },
  { path: 'people', name: 'People', action: 'see people by name', load: groupPage },
  { path: 'teams', name: 'Teams', action: 'read analytics', load: groupPage },
  { path: 'repositories', name: 'Repositories', action: 'read its own analytics', load: groupPage },
  { path: 'models', name: 'Models', action: 'read its own analytics', load: groupPage },
  {
    path: 'tools',
    name: 'Tools',
    action: 'read its own analytics',
    load: async () => (await import('./tools-page.js')).ToolsPage,
  },
  {
    path: 'trust',
    name: 'Trust',
    action: 'see people by name',
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
  {
    path: 'numbers',
    name: 'What the numbers mean',
    action: 'use the page',
    isHidden: true,
    load: async () => (await import('./glossary-page.js')).GlossaryPage,
  },
];

/** Closes menus on a press elsewhere, or on Escape. */
function closeMenus(event: MouseEvent | KeyboardEvent): void {
  if (event instanceof KeyboardEvent && event.key !== 'Escape') return;
  for (const menu of document.querySelectorAll<HTMLDetailsElement>('details.menu[open]')) {
    if (event instanceof MouseEvent && event.composedPath().includes(menu)) continue;
    if (event instanceof KeyboardEvent) closeMenu(menu);
    else menu.open = false;
  }
}

/** Follows links within the page without loading it again. */
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

/** Takes the token of a sign-in link out of the address, so that no copy of it stays in the history. */
function takeToken(): string | undefined {
  const token = /^#token=(.*)$/.exec(location.hash)?.[1];
  if (token !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return token;
}

export function App() {
  const [round, setRound] = useState(0);
  const [token] = useState(takeToken);
  const [isReady, setIsReady] = useState(token === undefined);
  const [fault, setFault] = useState('');
  useEffect(() => {
    if (token === undefined) return;
    sendJson('POST', 'sign-in', { token })
      .catch((error: Error) => setFault(error.message))
      .finally(() => setIsReady(true));
  }, []);
  useEffect(() => onChange(() => setRound((last) => last + 1)), []);
  return isReady ? <Signed key={round} fault={fault} /> : null;
}

function Signed({ fault }: { fault: string }) {
  const { answer, error } = useAnswer<Answers['getCaller']>(CALLER);
  if (error?.status === 401) return <SignIn fault={fault} />;
  if (error !== undefined)
    return (
      <main>
        <Problem error={error} again={begin} />
      </main>
    );
  return answer === undefined ? null : <Frame session={answer.data} />;
}

/** Says why a page can't be shown, and links to the overview. */
function Refusal({ text }: { text: string }) {
  return (
    <div class="problem">
      <h1>{text}</h1>
      <a href={hrefOf({ ...parseAddress(location), path: [], choices: {} })}>Overview</a>
    </div>
  );
}

/**
 * Patterns over days in charts: stripes for days that aren't over, and for those that aren't built. Where people are protected a day without a
 * number counts with the one before it.
 */
function Patterns({ isProtected }: { isProtected: boolean }) {
  const shared = { width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' };
  return (
    <svg class="unseen" aria-hidden="true">
      <pattern id="unfinished" {...shared}>
        <rect width="3" height="6" fill="var(--surface)" />
      </pattern>
      {!isProtected && (
        <pattern id="unbuilt" {...shared}>
          <rect width="1" height="6" fill="var(--line-strong)" />
        </pattern>
      )}
    </svg>
  );
}

/** The message if a page's code is missing, for example because the service was upgraded. */
const NOT_LOADED = 'This page can’t be loaded: load it again.';

/** A page's code, or the error of loading it. */
interface Loaded {
  readonly Page?: ComponentType<PageProps>;
  readonly error?: ServiceError;
  /** The page's first segment of the path. */
  readonly of?: string;
}

function Frame({ session }: { session: Session }) {
  const address = useAddress();
  const [loaded, setLoaded] = useState<Loaded>({});
  const place = address.path[0] ?? '';
  const page = PAGES.find(({ path }) => path === place);
  useTitle(page?.name ?? 'Nothing here');
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
    // On a phone, the page names scroll.
    document
      .querySelector('.head nav [aria-current]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    let isWanted = true;
    page?.load().then(
      (Page) => isWanted && setLoaded({ Page, of: place }),
      () => isWanted && setLoaded({ error: new ServiceError(0, NOT_LOADED, undefined), of: place }),
    );
    return () => {
      isWanted = false;
    };
  }, [place]);
  const pages = useRef<HTMLDetailsElement>(null);
  const [fault, setFault] = useState('');
  const signOut = () => sendJson('POST', 'sign-out').then(begin, (error: Error) => setFault(error.message));
  const allowed = PAGES.filter(({ action }) => may(session, action));
  const links = allowed
    .filter(({ isHidden = false }) => !isHidden)
    .map(({ path, name }) => (
      <a
        key={path}
        href={hrefOf({ ...address, path: path === '' ? [] : [path], choices: {} })}
        aria-current={path === place ? 'page' : undefined}
        onClick={() => pages.current?.removeAttribute('open')}
      >
        {name}
      </a>
    ));
  const { Page, error } = loaded.of === place ? loaded : {};
  return (
    <>
      <Patterns isProtected={may(session, 'read analytics') && !may(session, 'see people by name')} />
      <header class="head">
        <a class="name" href={hrefOf({ ...address, path: [] })}>
          <img src={mark} alt="" width="16" height="16" /> Daybook
        </a>
        <span class="org">{session.org_id}</span>
        <nav aria-label="Pages">{links}</nav>
        <details class="menu pages" ref={pages}>
          <summary>All pages</summary>
          <nav class="pop" aria-label="All pages">
            {links}
          </nav>
        </details>
        <details class="menu">
          <summary>
            <bdi>{session.user_id ?? session.role}</bdi>
          </summary>
          <div>
            <p>
              {session.user_id !== null && (
                <>
                  <bdi>{session.user_id}</bdi>,{' '}
                </>
              )}
              {session.role} of <bdi>{session.org_id}</bdi>
            </p>
            <button type="button" onClick={signOut}>
              Sign out
            </button>
            <p role="alert" class="bad">
              {fault}
            </p>
          </div>
        </details>
      </header>
      <main>
        <UnknownParameters address={address} />
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
        ) : error !== undefined ? (
          <Problem error={error} again={() => location.reload()} />
        ) : Page !== undefined ? (
          <Page address={address} session={session} />
        ) : null}
      </main>
    </>
  );
}
