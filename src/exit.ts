/** A mistake of the one who runs the command: its message is all that is printed, and the exit code is 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}
