import { UsageError } from '../exit.js';
import { nearestName } from '../input/nearest-name.js';
import { confirmed } from './confirm.js';

/** The option of commands that make an organization. */
export const NEW = [
  '--new',
  "make the organization if it doesn't exist; the first one needs no --new",
] as const;

/** The answer of a command that wasn't told to make the organization. */
export type Refused = { others: string[] };

/** How many organizations are named. */
const NAMED = 10;

/**
 * Runs a command that makes the organization if it may. If the command refuses because there are only others, asks and runs it again.
 * Throws a UsageError if the answer is no, which says what was not done, or if there is nobody to ask.
 */
export async function inOrganization<Result extends object>(
  { org, new: isNew = false }: { readonly org: string; readonly new?: boolean },
  notDone: string,
  run: (isNew: boolean) => Promise<Result>,
): Promise<Exclude<Result, Refused>> {
  const result = await run(isNew);
  if (!isRefused(result)) return result as Exclude<Result, Refused>;
  await confirmNew(org, result.others, notDone);
  const repeated = await run(true);
  if (isRefused(repeated)) throw new Error('the organization is still refused');
  return repeated as Exclude<Result, Refused>;
}

function isRefused(result: object): result is Refused {
  return 'others' in result;
}

async function confirmNew(org: string, others: readonly string[], notDone: string): Promise<void> {
  const nearest = nearestName(org, others);
  const inOrder = nearest === undefined ? others : [nearest, ...others.filter((other) => other !== nearest)];
  const named = inOrder.slice(0, NAMED).join(', ') + (others.length > NAMED ? ', ...' : '');
  if (process.stdin.isTTY !== true || process.stdin.readableEnded)
    throw new UsageError(
      `There is no organization ${org}, only ${named}: correct --org, or add --new to make another.`,
    );
  const question = `There is no organization ${org}, only ${named}. Make it?`;
  if (!(await confirmed(question, process.stderr))) throw new UsageError(notDone);
}
