import { createContext, Script } from 'node:vm';

const box: { work: () => void } = { work: () => undefined };
const context = createContext(box);
const script = new Script('work()');

/** Does work that doesn't wait for anything, for so many milliseconds at most: then it ends wherever it is, and this throws. */
export function withinTime<T>(timeout: number, work: () => T): T {
  let outcome: { readonly result: T } | undefined;
  box.work = () => {
    outcome = { result: work() };
  };
  script.runInContext(context, { timeout });
  if (outcome === undefined) throw new Error('the work has no result');
  return outcome.result;
}
