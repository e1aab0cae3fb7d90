/** Whether this run is one with all tests in full, however long they take: SLOW_TESTS=1 is set. */
export function playsSlow(): boolean {
  return process.env.SLOW_TESTS === '1';
}

/** All of some cases in such a run, else every other one, the last among them. */
export function played<T>(cases: readonly T[]): T[] {
  return cases.filter((_, place) => playsSlow() || place % 2 === (cases.length - 1) % 2);
}
