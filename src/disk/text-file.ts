import { readFileSync } from 'node:fs';

/** The text of a file in UTF-8, without a byte order mark, which Buffer.toString would keep. Throws the system's error. */
export function readText(path: string): string {
  return new TextDecoder().decode(readFileSync(path));
}
