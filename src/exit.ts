/** A mistake of the one who runs the command: its message is all that is printed, and the exit code is 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** A mistake that may pass by itself, such as a full disk: nobody has to change the command or a setting. */
export class MayPass extends UsageError {
  override name = 'MayPass';
}

/** What an error says. Anything can be thrown, and what isn't an Error is shown as it is. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The first line of what an error says, to stand in a sentence: engines add the query and the place on further lines, or as a scope. */
export function reasonOf(error: unknown): string {
  return messageOf(error).split(/\n| in scope /)[0] ?? '';
}

/** The system's name for what went wrong, as ENOENT; '' where it wasn't the system. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
