import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** Removes at the end of a run what its tests have left: the engines of tests keep their files until their process is gone. */
export default function folder(): () => void {
  return () => rmSync(tmpdir(), { recursive: true, force: true });
}
