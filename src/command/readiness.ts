import type { Command } from 'commander';
import { optionOf } from '../config.js';
import type { Invocation } from './program.js';
import type { CheckOptions } from './readiness-check.js';

/** Adds `readiness` to the program. */
export function add(program: Command, { clock }: Invocation): void {
  program
    .command('readiness')
    .description('say how ready a repository is for coding agents')
    .command('check')
    .description('evaluate a repository by its files and its git, without running any of it')
    .argument('[path]', 'folder in the repository', '.')
    .option('--rules <file>', 'criteria to add, or to use in the place of those with their ids')
    .option('--submit', 'send the report to the service')
    .option('--repo <url>', 'address of the repository (default: its remote origin)')
    .option(...optionOf('DAYBOOK_URL'))
    .option(...optionOf('DAYBOOK_KEY'))
    .option('--json', 'print the report as it is sent')
    .action(async (path: string, options: CheckOptions) => {
      const { checkReadiness } = await import('./readiness-check.js');
      await checkReadiness(path, options, clock);
    });
}
