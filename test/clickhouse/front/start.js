// Starts ClickHouse's engine behind its HTTP interface: --help says how.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const { module } = await runnerImport(fileURLToPath(new URL('./front.ts', import.meta.url)), {
  configFile: false,
});
await module.front(process.argv.slice(2));
