#!/usr/bin/env node

// A key among the arguments is in the list of processes until this takes them off it.
if (process.argv.includes('--key')) process.title = 'daybook';

// Agents wait for their hooks on every event: these start without what only the other commands need.
const [, , noun, verb, ...rest] = process.argv;
const isHelp = rest.some((word) => word === '--help' || word === '-h');
if (noun === 'hooks' && (verb === 'send' || verb === 'run' || verb === 'deliver') && !isHelp) {
  const { hookCommand } = await import('./hooks/hook-command.js');
  process.exit(await hookCommand(verb, rest, Date.now, process.env));
}

const { createProgram, fail } = await import('./command/program.js');
const { program, invocation } = createProgram(Date.now, process.env);

/** Every command, in the order of the help. What a command alone needs is loaded when it runs. */
const commands = await Promise.all([
  import('./command/serve.js'),
  import('./command/health.js'),
  import('./command/ingest.js'),
  import('./command/build.js'),
  import('./command/status.js'),
  import('./command/report.js'),
  import('./command/show-config.js'),
  import('./command/sql.js'),
  import('./command/backup.js'),
  import('./command/readiness.js'),
  import('./command/agent.js'),
  import('./command/computers.js'),
  import('./command/lake.js'),
  import('./command/keys.js'),
  import('./command/controls.js'),
  import('./command/hooks.js'),
]);
for (const { add } of commands) add(program, invocation);

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe has enough.
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

await program.parseAsync().catch(fail);
