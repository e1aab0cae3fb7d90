const works: Promise<unknown>[] = [];

/** Takes work that goes on after a command has answered. */
export function goOnWith(work: Promise<unknown>): void {
  // Whoever waits for the end hears of a failure.
  work.catch(() => undefined);
  works.push(work);
}

/** Waits for the end of all of it. Throws what the first throws. */
export async function ended(): Promise<void> {
  await Promise.all(works.splice(0));
}
