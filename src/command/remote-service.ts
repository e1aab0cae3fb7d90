import { createReadStream } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { codeOf, UsageError } from '../exit.js';
import { parsedJson } from '../input/json-object.js';
import { type QueryParameters, queryText } from '../input/query-text.js';
import { certificateFaultOf } from '../network/certificate.js';
import { AnswerTooLong, readAnswer } from '../network/outgoing.js';
import { onRefusal, ProxyRefusal, wayTo } from '../network/proxy-agent.js';
import { Report, type Submission } from '../readiness/readiness-report.js';
import { readProcessConfig } from '../settings/config.js';
import type { Progress } from '../terminal/terminal.js';
import { ulid } from '../ulid.js';

/** How often a temporary failure of the service is retried, and for how long. */
const RETRY_MS = 1000;
const RETRY_FOR_MS = 10 * 60_000;
/** How long the service can take to store a report. */
const REPORT_MS = 30_000;
/** How long the service can take for an answer without a computer or a query. */
const READ_MS = 120_000;
/** How long a server can be silent: as long as its settings allow for queries and for agents of computers. */
const SILENT_MS = 3_600_000;
/** How many bytes are read of one answer, and of all answers to a command. */
const ANSWER_BYTES = 32 << 20;
const ALL_ANSWERS_BYTES = 128 << 20;
/** How many characters of a server's message are shown. */
const DETAIL_CHARACTERS = 2000;

const ComputerRow = z.object({
  id: z.string(),
  name: z.string(),
  providerType: z.string(),
  status: z.string(),
  hostname: z.string().optional(),
  connectedAt: z.number().nullable(),
});
type ComputerRow = z.infer<typeof ComputerRow>;

const Problem = z.object({ detail: z.string() });

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A client for the API of a service. */
export class RemoteService {
  private readonly base: URL;
  private leftBytes = ALL_ANSWERS_BYTES;

  private constructor(
    private readonly url: string,
    private readonly key: string,
    private readonly clock: () => number,
    /** How long the answer to a query can be. */
    readonly queryMb: number,
  ) {
    this.base = new URL(url.endsWith('/') ? url : `${url}/`);
  }

  /** The service from the options `--server` and `--key`, or from settings. Throws a UsageError without a key for it. */
  static of(options: object, clock: () => number): RemoteService {
    const { url, key, sql } = readProcessConfig(options);
    if (key === undefined)
      throw new UsageError('Give an API key with --key or DAYBOOK_KEY: "daybook keys create" makes one.');
    return new RemoteService(url, key, clock, sql.answerMb);
  }

  /** The answer to a GET with parameters. Throws the service's message if it refuses, and a UsageError for an unexpected answer. */
  async get<T>(shape: z.ZodType<T>, path: string, parameters: QueryParameters = {}): Promise<T> {
    const query = queryText(parameters);
    return this.shaped(shape, this.bodyOf(await this.once('GET', query === '' ? path : `${path}?${query}`)));
  }

  /** The answer to a POST, as it arrives. Throws the service's message if it refuses. */
  async post(path: string, body: object, accept: string, signal?: AbortSignal): Promise<IncomingMessage> {
    const answer = await this.begin('POST', path, { body, accept }, signal);
    if (answer.statusCode === 200) return answer;
    this.bodyOf(await this.read(answer));
    return answer;
  }

  /** The answer to a request, as it arrives, with any status. */
  begin(
    method: string,
    path: string,
    { body, accept }: { readonly body?: object | undefined; readonly accept: string },
    signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    const headers = { ...this.headersOf(body), accept };
    return this.open(method, new URL(path, this.base), headers, send(body), signal);
  }

  /** Sends a readiness report, and answers it as it was stored. */
  async submitReport(submission: Submission): Promise<Report> {
    const path = 'api/organization/maturity-level-reports';
    return this.shaped(Report, this.bodyOf(await this.once('POST', path, submission, REPORT_MS)));
  }

  async computers(): Promise<ComputerRow[]> {
    const shape = z.object({ computers: z.array(ComputerRow) });
    return (await this.ask(shape, 'GET', 'api/v0/computers')).computers;
  }

  createComputer(wanted: object): Promise<ComputerRow & { agentToken?: string | undefined }> {
    const shape = ComputerRow.extend({ agentToken: z.string().optional() });
    return this.ask(shape, 'POST', 'api/v0/computers', wanted);
  }

  /** Sends a file to a computer, given by its id or name, in three calls. Answers how many bytes the computer has received. */
  async upload(
    file: { path: string; size: number; name: string },
    computer: string,
    destPath: string | undefined,
    progress: Progress,
  ): Promise<number> {
    const found = computer.startsWith('cmp_')
      ? encodeURIComponent(computer)
      : `name/${encodeURIComponent(computer)}`;
    const { id } = await this.ask(ComputerRow, 'GET', `api/v0/computers/${found}`);
    const path = `api/v0/computers/${encodeURIComponent(id)}/files/${encodeURIComponent(file.name)}`;
    const Upload = z.object({ transferId: z.string(), uploadUrl: z.url({ protocol: /^https?$/ }) });
    const upload = await this.ask(Upload, 'POST', `${path}/create-upload`, { sizeBytes: file.size });
    this.bodyOf(await this.put(new URL(upload.uploadUrl), file, progress));
    const Written = z.object({ byteLength: z.number() });
    const wanted = {
      transferId: upload.transferId,
      sessionId: `cli_${ulid(this.clock())}`,
      ...(destPath === undefined ? {} : { destPath }),
    };
    return (await this.ask(Written, 'POST', `${path}/complete-upload`, wanted, SILENT_MS)).byteLength;
  }

  private async put(url: URL, file: { path: string; size: number }, progress: Progress): Promise<Answer> {
    const counted = new PassThrough();
    let sent = 0;
    counted.on('data', (chunk: Buffer) => {
      sent += chunk.length;
      progress(sent, file.size);
    });
    const write: Write = (request) => pipeline(createReadStream(file.path), counted, request);
    return this.read(await this.open('PUT', url, { 'content-length': String(file.size) }, write), url);
  }

  /** Sends a request, and retries temporary failures. Throws a UsageError for a refusal, and for an unexpected answer. */
  private async ask<T>(
    shape: z.ZodType<T>,
    method: string,
    path: string,
    body?: object,
    ms?: number,
  ): Promise<T> {
    for (const until = this.clock() + RETRY_FOR_MS; ; await wait(RETRY_MS)) {
      const answer = await this.once(method, path, body, ms);
      if (answer.status !== 503 || this.clock() >= until) return this.shaped(shape, this.bodyOf(answer));
    }
  }

  private async once(method: string, path: string, body?: object, ms = READ_MS): Promise<Answer> {
    const signal = AbortSignal.timeout(ms);
    const url = new URL(path, this.base);
    return this.read(await this.open(method, url, this.headersOf(body), send(body), signal));
  }

  private headersOf(body: object | undefined): Record<string, string> {
    return {
      authorization: `Bearer ${this.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
  }

  /** The body of an answer. Throws the service's message if it refused. */
  private bodyOf({ status, body }: Answer): unknown {
    if (status >= 200 && status < 300) return body;
    const said = Problem.safeParse(body).data?.detail.slice(0, DETAIL_CHARACTERS);
    const detail = said ?? `The service ${this.url} answered ${status}.`;
    throw status >= 500 ? new Error(detail) : new UsageError(detail);
  }

  /** Parses a body. Throws a UsageError if it doesn't match the schema. */
  private shaped<T>(shape: z.ZodType<T>, body: unknown): T {
    const parsed = shape.safeParse(body);
    if (parsed.success) return parsed.data;
    throw new UsageError(
      `The service ${this.url} gives an answer that this version of Daybook doesn't know: check its address, and install the same version here.`,
    );
  }

  /** The status and body of an answer. Throws a UsageError if it breaks off, or is too long. */
  private async read(answer: IncomingMessage, url = this.base): Promise<Answer> {
    const most = Math.min(ANSWER_BYTES, this.leftBytes);
    const content = await readAnswer(answer, most).catch((error: Error) => {
      if (!(error instanceof AnswerTooLong)) throw this.unreachable(url, error);
      throw new UsageError(
        `${this.nameOf(url)} answers more than this command reads: ask for less, such as a shorter range.`,
      );
    });
    this.leftBytes -= content.length;
    return { status: answer.statusCode ?? 0, body: parsedJson(content) };
  }

  /** The answer to a request as soon as it begins. Throws a UsageError if there is none. */
  private async open(
    method: string,
    url: URL,
    headers: Record<string, string>,
    write: Write,
    signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    const way = await wayTo(url);
    return new Promise((resolve, reject) => {
      const { agent } = way;
      const asked = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
        method,
        headers,
        ...(signal === undefined ? {} : { signal }),
        ...(agent === undefined ? {} : { agent }),
      });
      const fail = (error: Error) => reject(this.unreachable(url, error, way.proxy));
      onRefusal(asked, way, (error) => {
        fail(error);
        asked.destroy();
      });
      asked.on('response', resolve);
      asked.setTimeout(SILENT_MS, () => asked.destroy(new Error('it is silent')));
      asked.on('error', fail);
      write(asked).catch(() => {});
    });
  }

  /** The name of an address's server at the beginning of a sentence. A file's bytes can go to another server than the service. */
  private nameOf(url: URL): string {
    return url.origin === this.base.origin ? `The service ${this.url}` : `The server ${url.origin}`;
  }

  /** The error for a server that doesn't answer, or breaks off. */
  private unreachable(url: URL, error: Error, proxy?: string): UsageError {
    const where = this.nameOf(url);
    if (error instanceof ProxyRefusal) return new UsageError(`${where} can't be reached: ${error.message}.`);
    const fault = certificateFaultOf(error);
    const isLate =
      error.name === 'TimeoutError' || (error.cause as Error | undefined)?.name === 'TimeoutError';
    const reason = isLate ? 'no answer in time' : codeOf(error) || error.message;
    const way = proxy === undefined ? '' : ` through the proxy ${proxy}`;
    return new UsageError(
      fault === undefined
        ? `${where} can't be reached${way} (${reason}): start it, or name another address with --server or DAYBOOK_URL.`
        : `${where} can't be reached${way}, because ${fault}.`,
    );
  }
}

/** Writes the body of a request. */
type Write = (request: ClientRequest) => Promise<void>;

function send(body: object | undefined): Write {
  return async (request) => {
    request.end(body === undefined ? undefined : JSON.stringify(body));
  };
}
