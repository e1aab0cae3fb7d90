import { UsageError } from '../exit.js';
import { isConfirmed } from '../terminal/ask.js';

/** The option of commands that make an organization. */
export const NEW = ['--new', 'make the organization, although another is nearly called so'] as const;

/** The answer of a command that would make an organization which is nearly called as another. */
export type Refused = { nearest: string };

/**
 * Runs a command that makes its organization if there is none. If the name looks like a typo of another, asks and runs it again.
 * Throws a UsageError if the answer is no, which says what was not done, or if there is nobody to ask.
 */
export async function inOrganization<Result extends object>(
  { org, new: isNew = false }: { readonly org: string; readonly new?: boolean },
  notDone: string,
  run: (isNew: boolean) => Promise<Result>,
): Promise<Exclude<Result, Refused>> {
  const result = await run(isNew);
  if (!isRefused(result)) return result as Exclude<Result, Refused>;
  await confirmNew(org, result.nearest, notDone);
  const repeated = await run(true);
  if (isRefused(repeated)) throw new Error('the organization is still refused');
  return repeated as Exclude<Result, Refused>;
}

function isRefused(result: object): result is Refused {
  return 'nearest' in result;
}

async function confirmNew(org: string, nearest: string, notDone: string): Promise<void> {
  if (process.stdin.isTTY !== true || process.stdin.readableEnded)
    throw new UsageError(
      `There is no organization ${org}, but ${nearest}: correct --org, or add --new to make another.`,
    );
  const question = `There is no organization ${org}, but ${nearest}. Make it?`;
  if (!(await isConfirmed(question, process.stderr))) throw new UsageError(notDone);
}
