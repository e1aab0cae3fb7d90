/** Whether this run is one with all tests in full, however long they take: SLOW_TESTS=1 is set. */
export function playsSlow(): boolean {
  return process.env.SLOW_TESTS === '1';
}
