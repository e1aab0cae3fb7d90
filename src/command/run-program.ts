import type { Command } from 'commander';
import { UsageError } from '../exit.js';
import type { Invocation } from './program.js';

/** The modules of commands by name, in the order of the help. Each is loaded when its command runs. */
export type Commands = Readonly<
  Record<string, () => Promise<{ add: (program: Command, invocation: Invocation) => void }>>
>;

/** Runs the command of this process. `isPart` says that the program has only some of Daybook's commands. */
export async function runProgram(commands: Commands, isPart = false): Promise<void> {
  const [noun = '', verb, ...rest] = process.argv.slice(2);
  // Everybody on this machine sees the arguments in the list of processes, and some are keys and tokens: only the command stays there.
  process.title = /^[a-z]+$/.test(noun) ? `daybook ${noun}` : 'daybook';
  const command = commandOf(process.argv.slice(2));
  // The work of these isn't to print: it goes on when the reader of their output or log has gone, for example a terminal or journald.
  const goesOn = command === 'serve' || command === 'agent' || process.argv.includes('--watch');
  process.stderr.on('error', () => {});
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (goesOn) return;
    // The reader of a pipe has enough.
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });

  // TRICKY: the system ignores a signal to the first process of a container that has no handler for it. Others end without one.
  if (process.pid === 1)
    for (const [signal, code] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const])
      process.on(signal, () => {
        if (process.listenerCount(signal) === 1) process.exit(code);
      });

  // Agents wait for their hooks on every event: these start without what only the other commands need.
  const isHelp = rest.some((word) => word === '--help' || word === '-h');
  if (noun === 'hooks' && (verb === 'send' || verb === 'run' || verb === 'deliver') && !isHelp) {
    const { hookCommand } = await import('../hooks/hook-command.js');
    process.exit(await hookCommand(verb, rest, Date.now, process.env));
  }

  const { createProgram, fail } = await import('./program.js');
  const { ended } = await import('../socket/afterwards.js');
  const { program, invocation } = createProgram(Date.now, process.env);
  // Completion is made from all of them.
  const named = command !== 'completion' && Object.hasOwn(commands, command) ? commands[command] : undefined;
  const loaded = await Promise.all(
    (named === undefined ? Object.values(commands) : [named]).map((load) => load()),
  );
  for (const { add } of loaded) add(program, invocation);
  const help = named === undefined ? 'daybook' : `daybook ${command}`;
  await program
    .parseAsync()
    .then(ended)
    .catch((error) =>
      fail(
        isPart && error.code === 'commander.unknownCommand'
          ? new UsageError(
              `This package has the commands ${Object.keys(commands).join(', ')}, and not ${command}: all others run on the service's machine.`,
            )
          : error,
        help,
      ),
    );
}

/** The first word that is neither an option of the program nor the value of one: the command. */
function commandOf(words: readonly string[]): string {
  const [word = '', ...others] = words;
  if (!word.startsWith('-')) return word;
  return commandOf(word === '--data' ? others.slice(1) : others);
}
