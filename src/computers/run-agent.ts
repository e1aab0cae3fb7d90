import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { messageOf, UsageError } from '../exit.js';
import { certificateFaultOf } from '../network/certificate.js';
import { wayTo } from '../network/proxy-agent.js';
import { withoutCredentials } from '../network/url-credentials.js';
import {
  CLOSE,
  type FromAgent,
  FromService,
  hostnameOf,
  type Job,
  JobFailed,
  MESSAGE_BYTES,
  PROTOCOL,
  parse,
} from './agent-message.js';
import { clone, install } from './repository-clone.js';
import { writeFile } from './workspace.js';

/** The first wait before reconnecting, and the longest. The actual wait is a random 50% to 100% of it. */
const BACKOFF_MS = 500;
const BACKOFF_MAX_MS = 30_000;
/** How long connecting to the service can take, and how long a download can stall. */
const CONNECT_MS = 20_000;
const STALL_MS = 60_000;
/** How much of a failure's message is sent to the service. */
const DETAIL_CHARACTERS = 4000;

export interface AgentOptions {
  /** Address of the service, as `http://127.0.0.1:8787`. */
  readonly server: string;
  readonly token: string;
  /** Folder that it may write to, by its real path. */
  readonly workspace: string;
  readonly version: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Called with a sentence for each thing that happens. */
  readonly say: (sentence: string) => void;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/**
 * Keeps a computer connected to the service and does its jobs, until the signal. Jobs under way continue when a connection breaks.
 * Throws a UsageError when the service doesn't know the token, or another agent has taken this one's place.
 */
export async function runAgent(options: AgentOptions): Promise<void> {
  const agent = new Agent(options);
  const { signal, say } = options;
  for (let failures = 0; !signal.aborted; failures += 1) {
    const ended = await agent.connect();
    if (signal.aborted) break;
    if (ended.wasConnected) failures = 0;
    const longest = Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** failures);
    // Random, so that agents that lost the same service don't all reconnect at once.
    const delay = longest / 2 + (Math.random() * longest) / 2;
    say(`${ended.sentence} The next try is in ${(delay / 1000).toFixed(1)} s.`);
    await wait(delay, undefined, { signal }).catch(() => undefined);
  }
  await agent.finish();
}

class Agent {
  /** The jobs under way: asking again for one of them doesn't start it twice. */
  private readonly underWay = new Map<string, Promise<void>>();
  private readonly base: URL;

  constructor(private readonly options: AgentOptions) {
    this.base = new URL(options.server.endsWith('/') ? options.server : `${options.server}/`);
  }

  /** Waits until no job is under way. */
  async finish(): Promise<void> {
    await Promise.allSettled(this.underWay.values());
  }

  /** Connects once, and answers why the connection ended. Throws a UsageError if reconnecting would be useless. */
  async connect(): Promise<{ wasConnected: boolean; sentence: string }> {
    const { token, version, signal, say, server } = this.options;
    const url = new URL('api/v0/relay/agent', this.base);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const { agent, proxy } = await wayTo(url);
    const unreachable = `The service ${server} can't be reached${proxy === undefined ? '' : ` through the proxy ${proxy}`}`;
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, PROTOCOL, {
        headers: { authorization: `Bearer ${token}` },
        handshakeTimeout: CONNECT_MS,
        maxPayload: MESSAGE_BYTES,
        ...(agent === undefined ? {} : { agent }),
      });
      let wasConnected = false;
      let sentence = `${unreachable}.`;
      let silence: NodeJS.Timeout | undefined;
      let silenceMs = CONNECT_MS;
      const heard = () => {
        clearTimeout(silence);
        silence = setTimeout(() => {
          sentence = `The service ${server} has stopped answering.`;
          socket.terminate();
        }, silenceMs);
      };
      const stop = () => {
        socket.close(1000);
        // The agent must be able to end although the service has stopped answering.
        setTimeout(() => socket.terminate(), 1000).unref();
      };
      signal.addEventListener('abort', stop);
      socket.on('unexpected-response', (_, response) => {
        response.destroy();
        if (response.statusCode === 401)
          reject(
            new UsageError(
              'The service does not know this agent token: create the computer again, and start the agent with its new token.',
            ),
          );
        sentence = `The service ${server} answered ${response.statusCode}.`;
        socket.terminate();
      });
      socket.on('error', (error) => {
        const fault = certificateFaultOf(error);
        if (fault !== undefined) sentence = `${unreachable}, because ${fault}.`;
        else if ('code' in error) sentence = `${unreachable} (${String(error.code)}).`;
      });
      socket.on('open', () => {
        heard();
        send(socket, { type: 'hello', hostname: hostnameOf(hostname()), version });
      });
      socket.on('ping', heard);
      socket.on('message', (data, isBinary) => {
        heard();
        const message = parse(FromService, data, isBinary);
        if (message === undefined || (message.type === 'welcome') === wasConnected)
          return socket.close(CLOSE.violated, "This message doesn't follow the protocol.");
        if (message.type === 'welcome') {
          wasConnected = true;
          silenceMs = message.heartbeatMs * 3;
          sentence = `The connection to ${server} broke.`;
          say(`Connected to ${server} as computer ${message.name} (${message.computerId}).`);
          return;
        }
        void this.work(socket, message);
      });
      socket.on('close', (code) => {
        clearTimeout(silence);
        signal.removeEventListener('abort', stop);
        if (code === CLOSE.deleted) reject(new UsageError('The computer is deleted: the agent stops.'));
        else if (code === CLOSE.replaced)
          reject(
            new UsageError("Another agent has connected with this computer's token: run only one of them."),
          );
        else if (code === CLOSE.violated)
          reject(
            new UsageError(
              'The service and the agent do not understand each other: install the same version of Daybook on both.',
            ),
          );
        else resolve({ wasConnected, sentence });
      });
      if (signal.aborted) stop();
    });
  }

  private async work(socket: WebSocket, { id, job }: Extract<FromService, { type: 'job' }>): Promise<void> {
    try {
      await this.once(job);
      send(socket, { type: 'done', id });
    } catch (error) {
      const reason = error instanceof JobFailed ? error.reason : 'failed';
      // Git and package managers print addresses, which can have credentials.
      const said = withoutCredentials(messageOf(error));
      const detail = said.slice(0, DETAIL_CHARACTERS);
      this.options.say(`${namesOf(job).failed}: ${detail}`);
      send(socket, { type: 'failed', id, reason, detail });
    }
  }

  /** Does a job, or waits for it if it is already under way. */
  private async once(job: Job): Promise<void> {
    const key =
      job.type === 'write'
        ? JSON.stringify([job.transferId, job.destPath ?? ''])
        : `${job.type} ${job.repo ?? ''}`;
    const begun = this.underWay.get(key);
    if (begun !== undefined) return begun;
    const work = this.perform(job);
    this.underWay.set(key, work);
    try {
      await work;
    } finally {
      this.underWay.delete(key);
    }
    this.options.say(`${namesOf(job).done}.`);
  }

  private perform(job: Job): Promise<void> {
    const { workspace, clock, signal } = this.options;
    switch (job.type) {
      case 'write': {
        const { type: _, url, ...target } = job;
        return writeFile(workspace, target, () => download(new URL(url, this.base), signal), clock(), signal);
      }
      case 'clone':
        return clone(workspace, job.repo, signal);
      case 'install':
        return install(workspace, job.repo, signal);
    }
  }
}

/** The messages for a job that is done, and for one that failed. */
function namesOf(job: Job): { done: string; failed: string } {
  switch (job.type) {
    case 'write': {
      const folder = job.destPath === undefined ? '' : `${job.destPath.replace(/\/$/, '')}/`;
      return { done: `Wrote ${folder}${job.fileName}`, failed: `${folder}${job.fileName} was not written` };
    }
    case 'clone': {
      const repo = withoutCredentials(job.repo);
      return { done: `Cloned ${repo}`, failed: `${repo} was not cloned` };
    }
    case 'install': {
      const what = `the dependencies of ${withoutCredentials(job.repo ?? 'the workspace')}`;
      return { done: `Installed ${what}`, failed: `Could not install ${what}` };
    }
  }
}

/** The bytes at an address, as a stream. Throws JobFailed if they can't be fetched. */
async function download(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  const { agent } = await wayTo(url);
  return new Promise((resolve, reject) => {
    const unreachable = (why: string) =>
      reject(new JobFailed('unreachable', `The bytes could not be fetched (${why}).`));
    const asked = (url.protocol === 'https:' ? getHttps : getHttp)(url, { signal, agent }, (response) => {
      if (response.statusCode === 200) return resolve(response);
      response.destroy();
      unreachable(`the answer was ${response.statusCode}`);
    });
    asked.setTimeout(STALL_MS, () => asked.destroy(new Error('nothing came for a minute')));
    asked.on('error', (error) => unreachable(certificateFaultOf(error) ?? error.message));
  });
}

/** Sends a message if the connection is open; otherwise the service asks again. */
function send(socket: WebSocket, message: FromAgent): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}
