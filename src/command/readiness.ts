import type { Command } from 'commander';
import { optionOf } from '../settings/config.js';
import type { Invocation } from './program.js';
import type { CheckOptions } from './readiness-check.js';

/** Adds `readiness` to the program. */
export function add(program: Command, { clock }: Invocation): void {
  program
    .command('readiness')
    .description('check how ready a repository is for coding agents')
    .command('check')
    .description('check a repository by its files and git history, without running any of it')
    .argument('[path]', 'folder of the repository', '.')
    .option('--rules <file>', 'JSON file with criteria to add, replace or turn off')
    .option('--submit', 'send the report to the service')
    .option('--repo <url>', 'address of the repository (default: its remote origin)')
    .option(...optionOf('DAYBOOK_URL'))
    .option(...optionOf('DAYBOOK_KEY'))
    .option('--json', 'print the report as JSON')
    .action(async (path: string, options: CheckOptions) => {
      const { checkReadiness } = await import('./readiness-check.js');
      await checkReadiness(path, options, clock);
    });
}
