import { Argument, type Command } from 'commander';
import { type Invocation, print } from './program.js';

/** Adds `completion` to the program. When it runs, all other commands must have been added. */
export function add(program: Command, _: Invocation): void {
  program
    .command('completion')
    .description('print a script that completes commands, options and their values on Tab')
    .addArgument(new Argument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      `
Install it once:
  bash  daybook completion bash > ~/.local/share/bash-completion/completions/daybook
  zsh   daybook completion zsh > "\${fpath[1]}/_daybook"
  fish  daybook completion fish > ~/.config/fish/completions/daybook.fish`,
    )
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionFor } = await import('./shell-completion.js');
      print(completionFor(shell, program));
    });
}
