/**
 * Loaded into a server before its program: measures how much processor time the event loop has taken at once, which no other process on
 * the machine changes (Linux). SIGUSR2 begins anew; the longest turn so far is in the file that TURNS names, in ms.
 */
import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';

/** How often it looks. A shorter turn isn't told from those beside it: ms. */
const EVERY_MS = 5;

const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const text = Buffer.alloc(100);

/** Processor time of the thread so far: ms. */
function processorTime(): number {
  const length = readSync(schedstat, text, 0, text.length, 0);
  return Number(text.toString('latin1', 0, length).split(' ')[0]) / 1e6;
}

let longest = 0;
let before = processorTime();
setInterval(() => {
  const now = processorTime();
  if (now - before > longest) {
    longest = now - before;
    writeFileSync(process.env.TURNS ?? '', longest.toFixed(0));
  }
  before = now;
}, EVERY_MS).unref();

process.on('SIGUSR2', () => {
  longest = 0;
  writeFileSync(process.env.TURNS ?? '', '0');
});
process.on('exit', () => closeSync(schedstat));
