import { fileURLToPath } from 'node:url';
import { transcripts } from './transcripts.js';

/** What `npm run bench -- NAME` runs. */
const benches: Record<string, (root: string) => Promise<void>> = { transcripts };

const [name = ''] = process.argv.slice(2);
const bench = benches[name];
if (bench === undefined) {
  console.error(`Name a bench: npm run bench -- ${Object.keys(benches).join('|')}`);
  process.exitCode = 2;
} else {
  await bench(fileURLToPath(new URL('../../..', import.meta.url)));
}
