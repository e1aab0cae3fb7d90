import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { SOCKET } from '../disk/data-files.js';
import { isFull } from '../disk/folder.js';
import { COMMIT, VERSION } from '../disk/package-root.js';
import { messageOf, UsageError } from '../exit.js';
import {
  type Config,
  isDebugging,
  leaveColoursOut,
  optionOf,
  readProcessConfig,
  readServiceConfig,
  type ShownSetting,
  settingsLeftOut,
  showServiceConfig,
} from '../settings/config.js';
import { isTold } from '../store/store-fault.js';
import { note, print, styled } from '../terminal/printing.js';

export { note, print } from '../terminal/printing.js';

/** The context of every command. */
export interface Invocation {
  /** The settings from the environment, overridden by options of the program and by these options of the command. */
  readonly settings: (options?: object) => Config;
  /** The same for the service, which also reads `.env`. */
  readonly serviceSettings: (options: object) => Config;
  /** Every setting as `daybook config` shows it. */
  readonly shownSettings: () => ShownSetting[];
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Commands that write files for their user, or run the user's programs, outside of the data folder. */
const FOR_THE_USER = ['agent', 'computers', 'hooks', 'readiness', 'run', 'sql'];

/** The program without its commands, and the context for them. */
export function createProgram(
  clock: Invocation['clock'],
  environment: Invocation['environment'],
): { program: Command; invocation: Invocation } {
  const program = new Command('daybook')
    .description('Self-hosted analytics for coding agents: exact daily numbers over a REST API and SQL.')
    .version(COMMIT === '' ? VERSION : `${VERSION} (${COMMIT})`)
    .option(...optionOf('DAYBOOK_DATA'))
    .option(
      '--accept-loss',
      'open a database that has lost data, and continue without it (see docs/operations.md)',
    )
    .option('--no-color', 'print without colours, as NO_COLOR does')
    .on('option:no-color', leaveColoursOut)
    .configureHelp({ styleTitle: (title) => styled('bold', title, process.stdout) })
    .exitOverride()
    .configureOutput({ writeOut: (text) => print(text), writeErr: note, outputError: () => {} });

  // All other commands write people's events and secrets. The umask also covers files that DuckDB creates.
  program.hook('preAction', (_, action) => {
    let command = action;
    while (command.parent !== null && command.parent !== program) command = command.parent;
    if (!FOR_THE_USER.includes(command.name())) process.umask(0o077);
  });

  const invocation: Invocation = {
    settings: (options) => {
      const all = { ...program.opts(), ...options };
      const config = readProcessConfig(all);
      // A running service answers commands with its own settings.
      if (!existsSync(join(config.data, SOCKET))) noteLeftOut(settingsLeftOut(all));
      return config;
    },
    serviceSettings: (options) => readServiceConfig({ ...program.opts(), ...options }),
    shownSettings: () => showServiceConfig(program.opts()),
    clock,
    environment,
  };
  return { program, invocation };
}

/** Notes which settings in `.env` a command ignores. */
function noteLeftOut(names: readonly string[]): void {
  if (names.length > 0)
    note(
      `Only "daybook serve" reads the file .env here, so this command goes without ${names.join(', ')}: if it needs them, set them in the environment.`,
    );
}

/**
 * Ends the process with an error: one sentence and exit code 2 for a usage error, otherwise the cause and exit code 1. `help` is the command
 * whose help says what its options are.
 */
export function fail(error: unknown, help = 'daybook'): void {
  if (error instanceof CommanderError) {
    // For commander, help and version are errors too.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
    // Help that is printed because a command is missing needs no further error.
    if (error.exitCode === 0 || error.code === 'commander.help') return;
    const message = error.message.replace(/^error: /, '').replace(/(?<!\s)\s*\n\s*/g, ' ');
    complain(
      `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.?$/, '.')} See "${help} --help".`,
    );
  } else if (error instanceof UsageError || isTold(error)) {
    process.exitCode = 2;
    complain(error.message);
  } else if (isFull(error)) {
    process.exitCode = 2;
    complain('The disk is full: make room there, and run the command again.');
  } else if (isOfPath(error)) {
    process.exitCode = 2;
    complain(
      `Daybook can't use ${error.path} (${error.code}): restore it, readable and writable for the user that runs Daybook.`,
    );
  } else {
    process.exitCode = 1;
    complain(`daybook failed: ${messageOf(error)}`);
    if (isDebugging() && error instanceof Error) note(String(error.stack));
  }
}

/** Prints an error as a line on standard error. */
function complain(sentence: string): void {
  note(styled('red', sentence, process.stderr));
}

/** Whether the system refuses a file or folder: it can't be read, or is of the wrong kind. */
function isOfPath(error: unknown): error is Error & { path: string; code: string } {
  return error instanceof Error && 'path' in error && 'code' in error && error.code !== 'ENOENT';
}
