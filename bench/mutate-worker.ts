import { Court } from './mutant-court.js';
import type { Mutant } from './mutants.js';

/** Tries mutants one after the other, as its parent sends them; runs in a copy of the package, whose sql/ it may change. */
const undo: (() => void | Promise<void>)[] = [];
const court = await Court.open((work) => undo.unshift(work));
process.once('disconnect', async () => {
  for (const work of undo) await work();
  process.exit();
});
process.on('message', async (mutant: Mutant) => {
  process.send?.(await court.try(mutant));
});
process.send?.('ready');
