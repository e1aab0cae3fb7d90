import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { codeOf, messageOf } from '../exit.js';
import { note } from '../terminal/printing.js';

/** The signals that end a program from outside. */
export const ENDING = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;

/** The signals that a terminal sends to all programs in it when somebody presses keys. */
const OF_KEYS: readonly string[] = ['SIGINT', 'SIGQUIT'];

/** The exit codes of shells for a program that isn't there, and for one that can't be run. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;

/** How a program ended. */
interface EndedProgram {
  /** Its exit code as a shell has it: 128 and the number of the signal that ended it, 127 if it isn't there, 126 if it can't be run. */
  readonly code: number;
  readonly hasRun: boolean;
}

/** Runs a program with the input and outputs of this process, and passes signals on to it. Says why one can't be run. */
export async function runChild(
  [program = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<EndedProgram> {
  const isInTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY === true);
  let child: ChildProcess | undefined;
  const passOn = (signal: NodeJS.Signals) => {
    // The program has it from the terminal, and two in a row can mean something else.
    if (!isInTerminal || !OF_KEYS.includes(signal)) child?.kill(signal);
  };
  // TRICKY: before the program starts, or a signal in between would end this process and leave the program running alone.
  for (const signal of ENDING) process.on(signal, passOn);
  try {
    child = spawn(program, args, { stdio: 'inherit', env: environment });
    return await endOf(child, program);
  } finally {
    for (const signal of ENDING) process.off(signal, passOn);
  }
}

/** Waits until a program has ended, or can't be run. */
function endOf(child: ChildProcess, program: string): Promise<EndedProgram> {
  return new Promise((resolve) => {
    child.on('exit', (code, signal) =>
      resolve({ code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), hasRun: true }),
    );
    child.on('error', (error) => {
      if (child.pid !== undefined) return;
      const isMissing = codeOf(error) === 'ENOENT';
      note(
        isMissing
          ? `There is no program ${program}: install it, or correct its name or PATH.`
          : `${program} can't be run (${codeOf(error) || messageOf(error)}): name a program that you may execute.`,
      );
      resolve({ code: isMissing ? NOT_FOUND : NOT_RUNNABLE, hasRun: false });
    });
  });
}
