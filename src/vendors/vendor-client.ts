import { z } from 'zod';
import { parsedJson } from '../input/json-object.js';
import { isAllowedHost } from '../network/allowed-host.js';
import { limitedFetch } from '../network/outgoing.js';
import { faultText } from '../network/provider-text.js';

/** How long an answer may take: milliseconds. */
const ANSWER_MS = 60_000;
/** How long is waited before a request is sent again that failed. */
const AGAIN_MS = [1000, 5000, 30_000];
/** How often a vendor may say that it is too early, and how long a wait it can ask for. */
const WAITS_AT_MOST = 20;
const LONGEST_WAIT_MS = 15 * 60_000;
/** How many pages a report of one day can have. */
const PAGES_AT_MOST = 10_000;
/** How long an answer can be, and a file that one links to: bytes. */
const ANSWER_BYTES = 16 << 20;
const FILE_BYTES = 256 << 20;

/** Why a report of a day couldn't be fetched: a sentence without its full stop, that begins with the vendor. */
export class PullFault extends Error {
  override name = 'PullFault';

  constructor(
    message: string,
    /** Whether other days of the report fail as well. */
    readonly isOfReport = false,
  ) {
    super(message);
  }
}

/** Where a vendor answers, and how requests wait. */
export interface ClientDeps {
  /** The vendor's name in sentences. */
  readonly title: string;
  /** Without a slash at the end. */
  readonly base: string;
  /** The headers with the key. */
  readonly headers: Readonly<Record<string, string>>;
  /** What no message may have. */
  readonly secrets: readonly string[];
  readonly pause: (ms: number) => Promise<unknown>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** The hosts from which files may be fetched to which an answer links. */
  readonly linkHosts: readonly string[];
  /** Aborts when nothing more may be asked. */
  readonly signal: AbortSignal;
}

/** A request to a vendor. */
export interface Asked {
  readonly method?: 'GET' | 'POST';
  /** From the base, with the query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: object;
}

/** Asks a vendor's API: waits where it is told to, and asks again after errors that pass. */
export class VendorClient {
  constructor(private readonly deps: ClientDeps) {}

  /** An answer of a form. Throws PullFault. */
  async json<Form extends z.ZodType>(form: Form, asked: Asked): Promise<z.infer<Form>> {
    const place = `${this.deps.title} answers ${asked.path.split('?')[0]}`;
    // A page that was cut off is no JSON, and asked for again.
    const json = await this.again(asked, (text) => {
      const parsed = parsedJson(text);
      if (parsed === undefined) throw new Error(`${place} with a page that is cut off`);
      return parsed;
    });
    return inForm(form, json, place);
  }

  /** The JSON lines of a file to which an answer links, each of a form. The file is fetched without the key. Throws PullFault. */
  async lines<Form extends z.ZodType>(form: Form, link: string): Promise<z.infer<Form>[]> {
    const { title, linkHosts } = this.deps;
    const { host } = new URL(link);
    if (!isAllowedHost(link, linkHosts))
      throw new PullFault(
        `${title} links to a file on ${host}: ask whoever runs Daybook to add it to DAYBOOK_VENDOR_HOSTS if it is ${title}'s`,
        true,
      );
    const place = `${title} answers the file on ${host}`;
    const documents = await this.again({ link }, (text) => {
      const whole = parsedJson(text);
      if (whole !== undefined) return [whole];
      return text
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => {
          const parsed = parsedJson(line);
          if (parsed === undefined) throw new Error(`${place} with one that is cut off`);
          return parsed;
        });
    });
    return documents.map((document) => inForm(form, document, place));
  }

  /**
   * All pages of an answer, one after the other. `next` says how to ask for the page after one, or undefined after the last. Throws PullFault.
   */
  async pages<Form extends z.ZodType>(
    form: Form,
    first: Asked,
    next: (page: z.infer<Form>, number: number) => Asked | undefined,
  ): Promise<z.infer<Form>[]> {
    const pages: z.infer<Form>[] = [];
    for (let asked: Asked | undefined = first; asked !== undefined; ) {
      if (pages.length === PAGES_AT_MOST)
        throw new PullFault(`${this.deps.title} answers ${first.path.split('?')[0]} with ever more pages`);
      const page: z.infer<Form> = await this.json(form, asked);
      pages.push(page);
      asked = next(page, pages.length);
    }
    return pages;
  }

  /** All rows of an answer whose pages name the next one, as Anthropic's and OpenAI's do. Throws PullFault. */
  async rows<Row extends z.ZodType>(row: Row, path: string): Promise<z.infer<Row>[]> {
    const Page = z.object({
      data: z.array(row),
      has_more: z.boolean(),
      next_page: z.string().nullish(),
    });
    const pages = await this.pages(Page, { path }, ({ has_more, next_page }) => {
      if (!has_more) return undefined;
      if (next_page == null)
        throw new PullFault(`${this.deps.title} says that there is another page, but not which one`);
      return { path: `${path}&page=${encodeURIComponent(next_page)}` };
    });
    return pages.flatMap(({ data }) => data);
  }

  /** Reads an answer with status 200. Waits and asks again while that can help. */
  private async again<T>(asked: Asked | { readonly link: string }, read: (text: string) => T): Promise<T> {
    const { title, base, secrets, pause, signal } = this.deps;
    const { method = 'GET', body } = 'link' in asked ? {} : asked;
    const url = 'link' in asked ? asked.link : `${base}${asked.path}`;
    const place = 'link' in asked ? `the file on ${new URL(url).host}` : asked.path.split('?')[0];
    // A link is signed, and no business of a log.
    const kept = 'link' in asked ? [...secrets, asked.link, new URL(url).search] : secrets;
    const headers = 'link' in asked ? {} : this.deps.headers;
    const most = 'link' in asked ? FILE_BYTES : ANSWER_BYTES;
    let failures = 0;
    for (let waits = 0; ; ) {
      let fault: string;
      try {
        const answer = await limitedFetch(
          url,
          {
            method,
            headers: {
              ...{ accept: 'application/json', 'user-agent': 'daybook', ...headers },
              ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
          },
          most,
        );
        const text = await answer.text();
        if (answer.status === 200) return read(text);
        fault = `${title} answers ${place} with ${answer.status}`;
        const wait = this.waitOf(answer);
        if (wait !== undefined) {
          if (wait > LONGEST_WAIT_MS || waits === WAITS_AT_MOST)
            throw new PullFault(`${fault}: its limit of requests is used up`, true);
          waits += 1;
          await pause(wait);
          continue;
        }
        if (answer.status < 500) {
          const isOfKey = answer.status === 401 || answer.status === 403;
          throw new PullFault(
            isOfKey ? `${fault}: give it a key that may read this report` : fault,
            isOfKey || answer.status === 404,
          );
        }
      } catch (error) {
        if (error instanceof PullFault) throw error;
        if (signal.aborted) throw new PullFault(`${title} was asked for longer than a pull may take`, true);
        const said = faultText(error, kept);
        fault = said.startsWith(title) ? said : `${title} can't be asked: ${said}`;
      }
      const rest = AGAIN_MS[failures];
      if (rest === undefined) throw new PullFault(fault);
      failures += 1;
      await pause(rest);
    }
  }

  /** How long a vendor says to wait; undefined if it doesn't say that it is too early. */
  private waitOf({ status, headers }: Response): number | undefined {
    const after = headers.get('retry-after');
    // GitHub says it with 403, too.
    const isUsedUp = headers.get('x-ratelimit-remaining') === '0';
    if (status !== 429 && !(status === 403 && (after !== null || isUsedUp))) return undefined;
    const seconds = Number(after ?? Number.NaN);
    if (Number.isFinite(seconds)) return Math.max(0, seconds) * 1000;
    const at = Date.parse(after ?? '');
    if (Number.isFinite(at)) return Math.max(0, at - this.deps.clock());
    const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN);
    return Number.isFinite(reset) ? Math.max(0, reset * 1000 - this.deps.clock()) : 60_000;
  }
}

/** A value of a form. Throws a PullFault that says which member has another one. */
function inForm<Form extends z.ZodType>(form: Form, json: unknown, place: string): z.infer<Form> {
  const parsed = form.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const member = issue?.path.map((part) => (typeof part === 'number' ? '[]' : String(part))).join('.');
  throw new PullFault(
    `${place} in another form than documented: ${member || 'the answer'} ${issue?.message ?? 'is wrong'}`,
  );
}
