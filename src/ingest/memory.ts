import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How much passes through before what is young is collected: the bytes of pieces that are dropped again. */
const PASSING_BYTES = 4 << 20;

type Collect = (options?: { type: 'minor' }) => void;

let exposed: Collect | undefined;
let passed = 0;

function collector(): Collect {
  if (exposed === undefined) {
    setFlagsFromString('--expose-gc');
    exposed = runInNewContext('gc') as Collect;
    setFlagsFromString('--no-expose-gc');
  }
  return exposed;
}

/**
 * Gives back what is garbage, which takes some hundredths of a second: for when nobody waits.
 * TRICKY: V8 collects when something is made, so a process that has become quiet keeps what its last work left behind.
 */
export function collectGarbage(): void {
  collector()();
}

/**
 * Notes that so many bytes have passed through, in pieces that nobody needs any more, and collects what is young now and then: a
 * millisecond.
 * TRICKY: V8 sees small objects, each of which keeps a piece outside its heap. Left to itself it waits until these are 64 MiB, and then
 * looks through all there is, old and new, which takes 30 to 100 ms.
 */
export function notePassed(bytes: number): void {
  passed += bytes;
  if (passed < PASSING_BYTES) return;
  passed = 0;
  collector()({ type: 'minor' });
}
