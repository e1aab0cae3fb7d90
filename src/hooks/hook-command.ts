import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { messageOf } from '../exit.js';
import { writerOf } from './payload-agent.js';
import { type HookContext, payloadOf, send } from './send-payload.js';
import { deliverAlone, HOOKS_FOLDER } from './spool.js';

/** How long a deliverer runs. */
const DELIVERS_MS = 50_000;

const OPTIONS = {
  folder: { type: 'string', default: HOOKS_FOLDER },
  agent: { type: 'string' },
  config: { type: 'string' },
} as const;

/**
 * The commands that agents run on every event, loaded without the modules of other commands, because they must start fast. A failure
 * here must never block the agent's event: the exit code is 0, and for `run` also 1 for a usage error and 2 if a hook blocks.
 */
export async function hookCommand(
  name: 'send' | 'run' | 'deliver',
  args: readonly string[],
  clock: () => number,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  // If the agent no longer reads, it has already ended.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    const { folder, agent, config } = values;
    if (name === 'deliver') {
      const delivery = await deliverAlone(folder, AbortSignal.timeout(DELIVERS_MS), clock());
      if (delivery === undefined || delivery === 'sent') return 0;
      const reason = delivery === 'late' ? 'the service takes them too slowly' : delivery.refused;
      await say(`Events wait in ${folder}: ${reason}.`);
      return 1;
    }
    const input = await text(process.stdin);
    const payload = payloadOf(input);
    const writer = writerOf(payload, agent, environment);
    const context: HookContext = {
      folder,
      agent: writer,
      // Agents that were started by Claude Code have its environment.
      entrypoint: writer === 'claude-code' ? environment.CLAUDE_CODE_ENTRYPOINT : undefined,
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

/** Prints a sentence, if there is one. Usually there is none, and nothing is loaded for it. */
async function say(sentence: string | undefined): Promise<void> {
  if (sentence !== undefined) (await import('../terminal/printing.js')).note(sentence);
}
