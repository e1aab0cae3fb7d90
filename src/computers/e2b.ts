import type { ConnectionOpts } from 'e2b';
import { certificateFaultOf } from '../certificate.js';
import type { E2bConfig } from '../config.js';
import type { Computer } from './computer.js';

/** How long a sandbox stays awake: the longest that every plan has. Then it is put to sleep with all its processes. */
const AWAKE_MS = 3_600_000;
/** How long a request, and the script that starts the agent, may take. */
const REQUEST_MS = 60_000;
const SCRIPT_MS = 120_000;
/** How much of what a provider says is kept. */
const SAID_CHARACTERS = 2000;

/** What E2B can't do: the message is for whoever wants the computer. */
export class ProviderFailed extends Error {
  override name = 'ProviderFailed';
}

/** The package, as far as it is used. */
type E2bModule = Pick<typeof import('e2b'), 'Sandbox' | 'SandboxNotFoundError'>;

/** Names the computer that a sandbox is of. */
const LABEL = 'daybookComputer';

/** Makes the user where there is none: run by root. */
const ADD_USER =
  'id -u -- "$REMOTE_USER" > /dev/null 2>&1 || useradd --create-home --shell /bin/bash -- "$REMOTE_USER"';

/** Starts the agent, instead of one that is there, and ends when it is connected; or fails with what it said. */
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
 * Makes computers as sandboxes of E2B (decisions.md, Computers), whose agents connect to `serviceUrl`. All of it can be done again
 * after it was cut off. Throws ProviderFailed.
 */
export class E2b {
  private readonly connection: ConnectionOpts;

  constructor(
    private readonly config: E2bConfig,
    private readonly serviceUrl: string,
  ) {
    const { host } = new URL(config.url);
    this.connection = {
      apiKey: config.apiKey,
      apiUrl: config.url,
      // Where the API is not api.DOMAIN, sandboxes are behind the same address.
      ...(host.startsWith('api.') ? { domain: host.slice('api.'.length) } : { sandboxUrl: config.url }),
      debug: false,
      requestTimeoutMs: REQUEST_MS,
    };
  }

  /** Makes the sandbox of a computer, unless it is made, and answers its id. */
  create({ id, source }: Computer, signal: AbortSignal): Promise<string> {
    const metadata = { [LABEL]: id };
    return this.ask(async ({ Sandbox }) => {
      const [made] = await Sandbox.list({ ...this.connection, query: { metadata } }).nextItems({ signal });
      if (made !== undefined) return made.sandboxId;
      const template = source?.kind === 'template' ? source.templateId : this.config.template;
      const { sandboxId } = await Sandbox.create(template, {
        ...this.connection,
        metadata,
        timeoutMs: AWAKE_MS,
        lifecycle: { onTimeout: 'pause' },
        signal,
      });
      return sandboxId;
    });
  }

  /** Wakes a sandbox that sleeps, gives it its user, and starts the agent anew; answers once that is connected. */
  configure(ref: string, { remoteUser }: Computer, agentToken: string, signal: AbortSignal): Promise<void> {
    return this.ask(async ({ Sandbox }) => {
      const { commands } = await Sandbox.connect(ref, { ...this.connection, timeoutMs: AWAKE_MS, signal });
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

  /** What has become of a sandbox. */
  status(ref: string): Promise<'running' | 'asleep' | 'gone'> {
    return this.ask(async ({ Sandbox, SandboxNotFoundError }) => {
      try {
        const { state } = await Sandbox.getInfo(ref, this.connection);
        return state === 'running' ? 'running' : 'asleep';
      } catch (error) {
        if (error instanceof SandboxNotFoundError) return 'gone';
        throw error;
      }
    });
  }

  /** Removes a sandbox, if it is there. */
  delete(ref: string): Promise<void> {
    return this.ask(async ({ Sandbox }) => {
      await Sandbox.kill(ref, this.connection);
    });
  }

  /** The package takes its time to load: who has no sandboxes never does. */
  private async ask<T>(work: (e2b: E2bModule) => Promise<T>): Promise<T> {
    const e2b = await import('e2b');
    try {
      return await work(e2b);
    } catch (error) {
      const said =
        error instanceof e2b.CommandExitError ? error.stderr : (certificateFaultOf(error) ?? String(error));
      throw new ProviderFailed(`E2B: ${said.trim().slice(-SAID_CHARACTERS)}`, { cause: error });
    }
  }
}
