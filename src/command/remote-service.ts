import { createReadStream } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { certificateFaultOf } from '../certificate.js';
import { readProcessConfig } from '../config.js';
import { UsageError } from '../exit.js';
import { Report, type Submission } from '../readiness/readiness-report.js';
import type { Progress } from '../terminal.js';
import { ulid } from '../ulid.js';

/** How often what the service can't do just now is asked again, and for how long altogether. */
const RETRY_MS = 1000;
const RETRY_FOR_MS = 10 * 60_000;
/** How long the service may take to keep a report. */
const REPORT_MS = 30_000;
/** How long the service may take to answer what only reads. */
const READ_MS = 120_000;

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

/** A service somewhere, as a user of its API has it. */
export class RemoteService {
  private readonly base: URL;

  private constructor(
    private readonly url: string,
    private readonly key: string,
    private readonly clock: () => number,
  ) {
    this.base = new URL(url.endsWith('/') ? url : `${url}/`);
  }

  /** The service that `--server` and `--key` among the options, or settings, name. Throws a UsageError without a key for it. */
  static of(options: object, clock: () => number): RemoteService {
    const { url, key } = readProcessConfig(options);
    if (key === undefined)
      throw new UsageError('Give an API key with --key or DAYBOOK_KEY: "daybook keys create" makes one.');
    return new RemoteService(url, key, clock);
  }

  /** What the service answers to a GET, with parameters. Throws what it said when it refused. */
  async get(path: string, parameters: Readonly<Record<string, string | undefined>> = {}): Promise<unknown> {
    const given = Object.entries(parameters).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    );
    const query = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
    return this.bodyOf(await this.once('GET', `${path}${query}`, undefined, AbortSignal.timeout(READ_MS)));
  }

  /** The answer of the service to a POST, as it arrives. Throws what it said when it refused. */
  async post(path: string, body: object, accept: string, signal?: AbortSignal): Promise<IncomingMessage> {
    const answer = await this.begin('POST', path, { body, accept }, signal);
    if (answer.statusCode === 200) return answer;
    this.bodyOf({ status: answer.statusCode ?? 0, body: parsed(await text(answer)) });
    return answer;
  }

  /** The answer of the service to a request, as it arrives, whatever its status. */
  begin(
    method: string,
    path: string,
    { body, accept }: { readonly body?: object | undefined; readonly accept: string },
    signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    const headers = { ...this.headersOf(body), accept };
    return this.open(method, new URL(path, this.base), headers, send(body), signal);
  }

  /** Sends a readiness report, and answers it as it is kept. */
  async submitReport(submission: Submission): Promise<Report> {
    const path = 'api/organization/maturity-level-reports';
    return Report.parse(
      this.bodyOf(await this.once('POST', path, submission, AbortSignal.timeout(REPORT_MS))),
    );
  }

  async computers(): Promise<ComputerRow[]> {
    const body = await this.ask('GET', 'api/v0/computers');
    return z.object({ computers: z.array(ComputerRow) }).parse(body).computers;
  }

  async createComputer(wanted: object): Promise<ComputerRow & { agentToken?: string | undefined }> {
    const body = await this.ask('POST', 'api/v0/computers', wanted);
    return ComputerRow.extend({ agentToken: z.string().optional() }).parse(body);
  }

  /** Sends a file to a computer, given by its id or its name, in the three calls. Answers how many bytes it has there. */
  async upload(
    file: { path: string; size: number; name: string },
    computer: string,
    destPath: string | undefined,
    progress: Progress,
  ): Promise<number> {
    const found = computer.startsWith('cmp_')
      ? encodeURIComponent(computer)
      : `name/${encodeURIComponent(computer)}`;
    const { id } = ComputerRow.parse(await this.ask('GET', `api/v0/computers/${found}`));
    const path = `api/v0/computers/${id}/files/${encodeURIComponent(file.name)}`;
    const upload = z
      .object({ transferId: z.string(), uploadUrl: z.url() })
      .parse(await this.ask('POST', `${path}/create-upload`, { sizeBytes: file.size }));
    this.bodyOf(await this.put(new URL(upload.uploadUrl), file, progress));
    const body = await this.ask('POST', `${path}/complete-upload`, {
      transferId: upload.transferId,
      sessionId: `cli_${ulid(this.clock())}`,
      ...(destPath === undefined ? {} : { destPath }),
    });
    return z.object({ byteLength: z.number() }).parse(body).byteLength;
  }

  private put(url: URL, file: { path: string; size: number }, progress: Progress): Promise<Answer> {
    const counted = new PassThrough();
    let sent = 0;
    counted.on('data', (chunk: Buffer) => {
      sent += chunk.length;
      progress(sent, file.size);
    });
    return this.request('PUT', url, { 'content-length': String(file.size) }, (request) =>
      pipeline(createReadStream(file.path), counted, request),
    );
  }

  /** Asks, again while the service says that it can't just now, and answers the body. Throws a UsageError for a refusal. */
  private async ask(method: string, path: string, body?: object): Promise<unknown> {
    for (const until = this.clock() + RETRY_FOR_MS; ; await wait(RETRY_MS)) {
      const answer = await this.once(method, path, body);
      if (answer.status !== 503 || this.clock() >= until) return this.bodyOf(answer);
    }
  }

  private once(method: string, path: string, body?: object, signal?: AbortSignal): Promise<Answer> {
    return this.request(method, new URL(path, this.base), this.headersOf(body), send(body), signal);
  }

  private headersOf(body: object | undefined): Record<string, string> {
    return {
      authorization: `Bearer ${this.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
  }

  /** The body of an answer. Throws what the service said when it refused. */
  private bodyOf({ status, body }: Answer): unknown {
    if (status >= 200 && status < 300) return body;
    const detail = Problem.safeParse(body).data?.detail ?? `The service ${this.url} answered ${status}.`;
    throw status >= 500 ? new Error(detail) : new UsageError(detail);
  }

  private async request(
    method: string,
    url: URL,
    headers: Record<string, string>,
    write: Write,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const answer = await this.open(method, url, headers, write, signal);
    const content = await text(answer).catch((error: Error) => Promise.reject(this.unreachable(url, error)));
    return { status: answer.statusCode ?? 0, body: parsed(content) };
  }

  /** The answer to a request as soon as it begins. Throws a UsageError if there is none. */
  private open(
    method: string,
    url: URL,
    headers: Record<string, string>,
    write: Write,
    signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const asked = (url.protocol === 'https:' ? requestHttps : requestHttp)(
        url,
        { method, headers, ...(signal === undefined ? {} : { signal }) },
        resolve,
      );
      asked.on('error', (error) => reject(this.unreachable(url, error)));
      write(asked).catch(() => {});
    });
  }

  /** What is said of a server that doesn't answer, or breaks off. */
  private unreachable(url: URL, error: Error): UsageError {
    const fault = certificateFaultOf(error);
    const reason = 'code' in error ? String(error.code) : error.message;
    // The bytes of a file can go to another server.
    const where = url.origin === this.base.origin ? `The service ${this.url}` : `The server ${url.origin}`;
    return new UsageError(
      fault === undefined
        ? `${where} can't be reached (${reason}): start it, or name another address with --server or DAYBOOK_URL.`
        : `${where} can't be reached, because ${fault}.`,
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

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
