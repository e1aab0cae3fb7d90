import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ConnectionOpts } from 'e2b';
import { certificateFaultOf } from '../network/certificate.js';
import { AnswerTooLong, SHORT_ANSWER_BYTES } from '../network/outgoing.js';
import { faultText, providerText } from '../network/provider-text.js';
import { proxyFor } from '../network/proxy-agent.js';
import type { E2bConfig } from '../settings/config.js';
import type { Computer } from './computer.js';

/** How long a sandbox stays awake: the longest that every plan allows. Then it sleeps, with all its processes. */
const AWAKE_MS = 3_600_000;
/** How long a request, and the script that starts the agent, may take. */
const REQUEST_MS = 60_000;
const SCRIPT_MS = 120_000;
/** How long all requests and scripts of one call may take. */
const CALL_MS = 2 * (REQUEST_MS + SCRIPT_MS);

/** A failure of E2B, with a message for the person who wants the computer. */
export class ProviderFailed extends Error {
  override name = 'ProviderFailed';
}

/** The parts of the package that are used. */
type E2bModule = Pick<typeof import('e2b'), 'Sandbox' | 'SandboxNotFoundError'>;

/** The channel that announces each chunk of an answer that the package's HTTP client receives. */
const RECEIVED = 'undici:request:bodyChunkReceived';
interface Received {
  readonly request: { readonly origin?: unknown; readonly abort?: (reason: Error) => void };
  readonly chunk: Uint8Array;
}

/** The metadata of a sandbox that has its computer's id. */
const LABEL = 'daybookComputer';

/** Creates the user if it doesn't exist. Runs as root. */
const ADD_USER =
  'id -u -- "$REMOTE_USER" > /dev/null 2>&1 || useradd --create-home --shell /bin/bash -- "$REMOTE_USER"';

/** Starts the agent in place of an older one, and ends once it is connected; otherwise fails with its output. */
const START_AGENT = `
command -v daybook > /dev/null || { echo 'The template has no program "daybook".' >&2; exit 127; }
cd
before=$(cat .daybook-agent.pid 2> /dev/null)
is_there() { grep -qs daybook "/proc/$before/cmdline"; }
is_there && kill "$before" && for _ in $(seq 50); do is_there || break; sleep 0.2; done
setsid daybook agent --server "$DAYBOOK_URL" --workspace workspace > .daybook-agent.log 2>&1 < /dev/null &
echo $! > .daybook-agent.pid
for _ in $(seq 300); do
  grep -q '^Connected' .daybook-agent.log && exit 0
  kill -0 $! 2> /dev/null || break
  sleep 0.2
done
kill $! 2> /dev/null
tail -c 1500 .daybook-agent.log >&2
exit 1`;

/**
 * Makes computers as sandboxes of E2B (docs/computers.md, "Sandboxes of E2B"), whose agents connect to `serviceUrl`. Everything can be repeated
 * after an interruption. Throws ProviderFailed.
 */
export class E2b {
  private readonly options: ConnectionOpts;

  constructor(
    private readonly config: E2bConfig,
    private readonly serviceUrl: string,
  ) {
    const { host } = new URL(config.url);
    this.options = {
      apiKey: config.apiKey,
      apiUrl: config.url,
      // If the API isn't at api.DOMAIN, sandboxes are reached through the same address.
      ...(host.startsWith('api.') ? { domain: host.slice('api.'.length) } : { sandboxUrl: config.url }),
      debug: false,
      requestTimeoutMs: REQUEST_MS,
    };
  }

  /** Creates a computer's sandbox unless it exists, and answers its id. */
  create({ id, source }: Computer, stopping: AbortSignal): Promise<string> {
    const metadata = { [LABEL]: id };
    return this.ask([], stopping, async ({ Sandbox }, connection, signal) => {
      const [made] = await Sandbox.list({ ...connection, query: { metadata } }).nextItems({ signal });
      if (made !== undefined) return made.sandboxId;
      const template = source?.kind === 'template' ? source.templateId : this.config.template;
      const { sandboxId } = await Sandbox.create(template, {
        ...connection,
        metadata,
        timeoutMs: AWAKE_MS,
        lifecycle: { onTimeout: 'pause' },
        signal,
      });
      return sandboxId;
    });
  }

  /** Wakes a sandbox, creates its user, and restarts the agent. Answers once the agent is connected. */
  configure(ref: string, { remoteUser }: Computer, agentToken: string, stopping: AbortSignal): Promise<void> {
    return this.ask([agentToken], stopping, async ({ Sandbox }, connection, signal) => {
      const { commands } = await Sandbox.connect(ref, { ...connection, timeoutMs: AWAKE_MS, signal });
      const options = { timeoutMs: SCRIPT_MS, signal };
      if (remoteUser !== null)
        await commands.run(ADD_USER, { ...options, user: 'root', envs: { REMOTE_USER: remoteUser } });
      await commands.run(START_AGENT, {
        ...options,
        ...(remoteUser === null ? {} : { user: remoteUser }),
        envs: { DAYBOOK_URL: this.serviceUrl, DAYBOOK_AGENT_TOKEN: agentToken },
      });
    });
  }

  /** The state of a sandbox. */
  status(ref: string): Promise<'running' | 'asleep' | 'gone'> {
    return this.ask([], undefined, async ({ Sandbox, SandboxNotFoundError }, connection, signal) => {
      try {
        const { state } = await Sandbox.getInfo(ref, { ...connection, signal });
        return state === 'running' ? 'running' : 'asleep';
      } catch (error) {
        if (error instanceof SandboxNotFoundError) return 'gone';
        throw error;
      }
    });
  }

  /** Removes a sandbox, if it exists. */
  delete(ref: string): Promise<void> {
    return this.ask([], undefined, async ({ Sandbox }, connection, signal) => {
      await Sandbox.kill(ref, { ...connection, signal });
    });
  }

  /**
   * Asks E2B something, until stopped or the answer is too long. `secrets` are those in the request beside the key. The package is
   * slow to load, so it is loaded only here.
   */
  private async ask<T>(
    secrets: readonly string[],
    stopping: AbortSignal | undefined,
    work: (e2b: E2bModule, connection: ConnectionOpts, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const e2b = await import('e2b');
    const proxy = await proxyFor(new URL(this.config.url));
    const connection = { ...this.options, ...(proxy === undefined ? {} : { proxy: proxy.href }) };
    const ending = new AbortController();
    let left = SHORT_ANSWER_BYTES;
    // TRICKY: the package accepts no HTTP client of ours, reads answers of any length, and its client ignores signals while a body arrives.
    const count = (message: unknown) => {
      const { request, chunk } = message as Received;
      if (!this.isOfE2b(String(request.origin))) return;
      left -= chunk.length;
      if (left >= 0 || ending.signal.aborted) return;
      ending.abort(new AnswerTooLong(SHORT_ANSWER_BYTES));
      setImmediate(() => request.abort?.(ending.signal.reason));
    };
    const late = setTimeout(() => ending.abort(new Error('the answer takes too long')), CALL_MS);
    const isEnded = new Promise<never>((_, reject) => {
      ending.signal.addEventListener('abort', () => reject(ending.signal.reason));
    });
    subscribe(RECEIVED, count);
    try {
      const signals = stopping === undefined ? [ending.signal] : [ending.signal, stopping];
      return await Promise.race([work(e2b, connection, AbortSignal.any(signals)), isEnded]);
    } catch (error) {
      const all = [this.config.apiKey, ...secrets];
      const said =
        error instanceof e2b.CommandExitError
          ? providerText(error.stderr, all)
          : (certificateFaultOf(error) ??
            faultText(ending.signal.aborted ? ending.signal.reason : error, all));
      // TRICKY: the error itself can contain the key, and causes are logged.
      throw new ProviderFailed(`E2B: ${said}`);
    } finally {
      clearTimeout(late);
      unsubscribe(RECEIVED, count);
    }
  }

  /** Whether an origin is the API or a sandbox. */
  private isOfE2b(origin: string): boolean {
    const { origin: api, host } = new URL(this.config.url);
    return origin === api || (host.startsWith('api.') && origin.endsWith(host.slice('api'.length)));
  }
}
