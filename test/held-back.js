import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';

// For `node --import`: holds a process back at a call about a path, as a slow disk or a large file would, until a file is there. HELD_BACK
// names the function, what the path ends with, whether the call comes before that, and the file. See at-once.test.ts.
const { call, ending, isDone, gate } = JSON.parse(process.env.HELD_BACK);
const LOOK_MS = 10;

let isHeld = false;
/** Whether this is the call. Paths are those that it is given. */
function isCall(paths) {
  if (isHeld || !paths.some((path) => typeof path === 'string' && path.endsWith(ending))) return false;
  isHeld = true;
  return true;
}

if (call.endsWith('Sync')) {
  const real = fs[call];
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  const hold = () => {
    fs.writeFileSync(`${gate}.reached`, '');
    while (!fs.existsSync(gate)) Atomics.wait(sleeper, 0, 0, LOOK_MS);
  };
  fs[call] = (...args) => {
    const holds = isCall(args);
    if (holds && !isDone) hold();
    const result = real(...args);
    if (holds && isDone) hold();
    return result;
  };
} else {
  const real = fs.promises[call];
  const hold = async () => {
    fs.writeFileSync(`${gate}.reached`, '');
    while (!fs.existsSync(gate)) await wait(LOOK_MS);
  };
  fs.promises[call] = async (...args) => {
    const holds = isCall(args);
    if (holds && !isDone) await hold();
    const result = await real(...args);
    if (holds && isDone) await hold();
    return result;
  };
}
syncBuiltinESMExports();
