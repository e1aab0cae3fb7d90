const works: Promise<unknown>[] = [];

/** Takes work that goes on after a command has answered. */
export function goOnWith(work: Promise<unknown>): void {
  // Callers of `ended` get the error.
  work.catch(() => undefined);
  works.push(work);
}

/** Waits until all work has ended. Throws the first error. */
export async function ended(): Promise<void> {
  await Promise.all(works.splice(0));
}
