import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type QueryParameters, queryText } from '../../src/input/query-text.js';
import type { Range } from './days.js';

/** An error from the service, with its sentence; status 0 if the service couldn't be reached. */
export class ServiceError extends Error {
  constructor(
    readonly status: number,
    sentence: string,
    readonly requestId: string | undefined,
  ) {
    super(sentence);
  }
}

/** The path that tells who is signed in. */
export const CALLER = 'api/v1/caller';

/** Called when the signed-in user or the available data has changed, so that the page asks the service again. */
let changed = () => {};
export function onChange(act: () => void): void {
  changed = act;
}

/** How often the page has begun anew. */
let begun = 0;

/** Forgets all answers, and lets the page ask again who is signed in and which days have numbers. */
export function begin(): void {
  begun += 1;
  kept.clear();
  changed();
}

/** Whether the last request didn't reach the service. */
let isAway = false;
/** Dispatched when the service is reached again, so that failed answers are read. */
const REACHED = 'reached';

/** Sends a request to the service. `path` is relative to its address, without a leading slash. Throws a ServiceError. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  const sentIn = begun;
  try {
    response = await fetch(new URL(path, document.baseURI), init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    isAway = true;
    throw new ServiceError(
      0,
      'The service can’t be reached: check the connection, then try again.',
      undefined,
    );
  }
  if (isAway) {
    isAway = false;
    window.dispatchEvent(new Event(REACHED));
  }
  if (response.ok) return response;
  const { detail = `The service answered ${response.status}.`, requestId } = await response
    .json()
    .catch(() => ({}));
  // What was asked before the page has begun anew says nothing of whoever is signed in now.
  if (response.status === 401 && path !== 'sign-in' && path !== CALLER && sentIn === begun) begin();
  throw new ServiceError(response.status, detail, requestId);
}

/** Sends a JSON body, and answers the body of the answer; undefined for 204. */
export async function sendJson<Answer>(
  method: string,
  path: string,
  body?: unknown,
  headers = {},
): Promise<Answer> {
  const response = await send(path, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.status === 204 ? (undefined as Answer) : response.json();
}

/** An answer of the service. The last one stays while the next one is read. */
export interface Asked<Answer> {
  readonly answer: Answer | undefined;
  readonly error: ServiceError | undefined;
  readonly isLoading: boolean;
  /** The path of the answer, for people who want to request it themselves. */
  readonly path: string | undefined;
  /** The body of a POST; undefined for GET. */
  readonly body?: string | undefined;
  readonly again: () => void;
  /** Takes what a change has answered as the newest answer. */
  take(answer: Answer): void;
}

/** Answers that are being read or were read lately, by path and body. Panels that ask for the same share one request. */
const kept = new Map<string, Promise<unknown>>();
const KEPT_AT_MOST = 100;

/** The key of an answer in `kept`. */
function keyOf(path: string, body = ''): string {
  return `${path} ${body}`;
}

/** Reads an answer, or takes it from `kept`. Sends a POST if there is a body of JSON. */
export async function read(path: string, body?: string): Promise<unknown> {
  const leave = join(keyOf(path, body));
  try {
    return await keptOrRead(path, body);
  } finally {
    leave();
  }
}

/** The same for whoever has joined the readers. */
function keptOrRead(path: string, body?: string): Promise<unknown> {
  const key = keyOf(path, body);
  const known = kept.get(key);
  if (known !== undefined) return known;
  const posted = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const answer = inTurn(key, async () => {
    const response = await send(path, body === undefined ? {} : { ...posted, body });
    return response.json();
  });
  kept.set(key, answer);
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT_AT_MOST) break;
    kept.delete(oldest);
  }
  answer.catch(() => kept.get(key) === answer && kept.delete(key));
  return answer;
}

/** How many answers are awaited at a time. The others wait, so that the first panels of a page have theirs first. */
const AT_ONCE = 3;
let awaited = 0;
/** The requests that wait for their turn, by key. */
const waiting = new Map<string, () => void>();
/** How many readers an answer has, by its key. */
const readers = new Map<string, number>();

/** Joins the readers of an answer, and answers how to leave them. A request without readers that still waits is never sent. */
function join(key: string): () => void {
  readers.set(key, (readers.get(key) ?? 0) + 1);
  return () => {
    const others = (readers.get(key) ?? 1) - 1;
    if (others > 0) readers.set(key, others);
    else {
      readers.delete(key);
      if (waiting.delete(key)) kept.delete(key);
    }
  };
}

/** Sends a request after those before it. */
async function inTurn<Answer>(key: string, ask: () => Promise<Answer>): Promise<Answer> {
  if (awaited < AT_ONCE) awaited += 1;
  else await new Promise<void>((resolve) => waiting.set(key, resolve));
  try {
    return await ask();
  } finally {
    const [next] = waiting;
    if (next === undefined) awaited -= 1;
    else {
      waiting.delete(next[0]);
      next[1]();
    }
  }
}

/** An answer in pages. */
interface Page {
  readonly data: readonly unknown[];
  readonly meta: { readonly next_cursor: string | null };
}

/** Reads all pages of an answer, one after the other, as one. */
async function readPages(path: string): Promise<unknown> {
  const first = (await read(path)) as Page;
  const data = [...first.data];
  let { next_cursor: next } = first.meta;
  while (next !== null) {
    const page = (await read(`${path}&cursor=${encodeURIComponent(next)}`)) as Page;
    data.push(...page.data);
    next = page.meta.next_cursor;
  }
  return { data, meta: { ...first.meta, has_more: false, next_cursor: null } };
}

/** Asks the service with GET, or with POST if there is a body of JSON. Asks nothing while `path` is undefined. */
export function useAnswer<Answer>(path: string | undefined, body?: string): Asked<Answer> {
  return useRead<Answer>(path, body, keptOrRead);
}

/** Asks for all pages of an answer. Use it only where the range bounds their number: each page is a request. */
export function usePages<Answer>(path: string | undefined): Asked<Answer> {
  return useRead<Answer>(path, undefined, readPages);
}

/** One answer that is shown together with others: it is loading until all have arrived, and has the first error of any. */
export function together<Answer>(asked: Asked<Answer>, ...others: readonly Asked<unknown>[]): Asked<Answer> {
  const all = [asked, ...others];
  return {
    ...asked,
    error: all.find(({ error }) => error !== undefined)?.error,
    isLoading: all.some(({ isLoading }) => isLoading),
    again: () => {
      for (const { error, again } of all) if (error !== undefined) again();
    },
  };
}

function useRead<Answer>(
  path: string | undefined,
  body: string | undefined,
  readBy: (path: string, body?: string) => Promise<unknown>,
): Asked<Answer> {
  const key = path && keyOf(path, body);
  const [state, setState] = useState<{ answer?: Answer; error?: ServiceError; of?: string }>({});
  const [round, setRound] = useState(0);
  // Sent before the page is painted, so that the service works meanwhile.
  useLayoutEffect(() => {
    if (path === undefined || key === undefined) return;
    let isWanted = true;
    const leave = join(key);
    readBy(path, body).then(
      (answer) => isWanted && setState({ answer: answer as Answer, of: key }),
      (error) =>
        isWanted && setState((present) => ({ ...(present.of === key ? present : {}), error, of: key })),
    );
    return () => {
      isWanted = false;
      leave();
    };
  }, [key, round]);
  const isLost = state.of === key && state.error?.status === 0;
  useEffect(() => {
    if (!isLost) return;
    const retry = () => setRound((last) => last + 1);
    window.addEventListener(REACHED, retry);
    return () => window.removeEventListener(REACHED, retry);
  }, [isLost]);
  return {
    answer: path === undefined ? undefined : state.answer,
    error: state.of === key ? state.error : undefined,
    isLoading: key !== undefined && state.of !== key,
    path,
    body,
    again: () => {
      if (key !== undefined) kept.delete(key);
      setRound((last) => last + 1);
    },
    take: (answer) => {
      if (key === undefined) return;
      kept.set(key, Promise.resolve(answer));
      setState({ answer, of: key });
      // One that is being read may be older.
      setRound((last) => last + 1);
    },
  };
}

/** The same for data that people change: it is always read again when it is first shown. */
export function useFresh<Answer>(path: string | undefined): Asked<Answer> {
  useMemo(() => path !== undefined && kept.delete(keyOf(path)), [path]);
  return useAnswer(path);
}

/** A value of the page as it was when its last answer came, while the next one is awaited: so old numbers keep their names. */
export function useSettled<Value>(value: Value, isLoading: boolean): Value {
  const settled = useRef(value);
  if (!isLoading) settled.current = value;
  return settled.current;
}

/** Asks again some milliseconds after each answer, while the page is visible. Never asks again if `ms` is undefined. */
export function useAgain({ answer, error, path, again }: Asked<unknown>, ms: number | undefined): void {
  useEffect(() => {
    if (ms === undefined) return;
    const timer = setInterval(() => {
      if (document.hidden) return;
      clearInterval(timer);
      again();
    }, ms);
    return () => clearInterval(timer);
  }, [answer, error, path, ms]);
}

/** The path of an answer with the parameters that have a value. */
export function withQuery(path: string, parameters: QueryParameters): string {
  return `${path}?${queryText(parameters)}`;
}

/** The path of an analytics answer for the days of a range. */
export function analyticsPath(name: string, { from, to }: Range, more: QueryParameters = {}): string {
  return withQuery(`api/v1/analytics/${name}`, { startDate: from, endDate: to, ...more });
}
