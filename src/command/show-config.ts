import type { Command } from 'commander';
import { table } from '../terminal/terminal.js';
import { type Invocation, print } from './program.js';

/** Adds `config` to the program. */
export function add(program: Command, { shownSettings }: Invocation): void {
  program
    .command('config')
    .description(
      'show every setting of a service that starts in this folder, its value and its source; secrets are masked',
    )
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => {
      const shown = shownSettings();
      print(options.json === true ? JSON.stringify(shown) : table(shown.map((setting) => ({ ...setting }))));
    });
}
