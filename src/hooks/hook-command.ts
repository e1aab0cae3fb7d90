import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { messageOf } from '../exit.js';
import { type HookContext, payloadOf, send } from './send-payload.js';
import { deliverAlone, HOOKS_FOLDER } from './spool.js';

/** How long a deliverer goes on. */
const DELIVERS_MS = 50_000;

const OPTIONS = {
  folder: { type: 'string', default: HOOKS_FOLDER },
  agent: { type: 'string' },
  config: { type: 'string' },
} as const;

/**
 * The commands that agents run on every event, without what only the others need: they must start at once. Nothing that goes
 * wrong here may block the agent's event: the exit code is 0, of `run` also 1 for a mistake of use and 2 where a hook blocks.
 */
export async function hookCommand(
  name: 'send' | 'run' | 'deliver',
  args: readonly string[],
  clock: () => number,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  // An agent that reads no more has ended already.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    const { folder, agent, config } = values;
    if (name === 'deliver') {
      await deliverAlone(folder, AbortSignal.timeout(DELIVERS_MS), clock());
      return 0;
    }
    const input = await text(process.stdin);
    const payload = payloadOf(input);
    const context: HookContext = {
      folder,
      agent,
      entrypoint: environment.CLAUDE_CODE_ENTRYPOINT,
      now: clock(),
      program: [process.execPath, process.argv[1] ?? ''],
    };
    if (name === 'send') {
      await say(await send(payload, context));
      return 0;
    }
    if (config === undefined) throw new Error('--config must name a file with hooks.');
    const [{ printData }, { readHooksConfig, record, runHooks }, { endAll }] = await Promise.all([
      import('../terminal/printing.js'),
      import('./hook-runs.js'),
      import('./run-hook.js'),
    ]);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => {
        endAll();
        process.exit(0);
      });
    const { runs, answer } = await runHooks(readHooksConfig(config), payload, input);
    printData(answer.stdout, process.stdout);
    printData(answer.stderr, process.stderr);
    const waits = await record(payload, runs, context).catch(String);
    if (answer.exitCode === 0) await say(waits);
    return answer.exitCode;
  } catch (error) {
    await say(messageOf(error));
    return name === 'run' ? 1 : 0;
  }
}

/** Says a sentence, if there is one: most of the time there is none, and nothing is loaded for it. */
async function say(sentence: string | undefined): Promise<void> {
  if (sentence !== undefined) (await import('../terminal/printing.js')).note(sentence);
}
