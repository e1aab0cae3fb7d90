import { codeOf } from '../exit.js';

/** Whether this machine has a process with this id. */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** Ends all processes of a group that this process has begun, unless they have ended: that is ESRCH, on macOS also EPERM. */
export function endGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // There is nothing to end.
  }
}
