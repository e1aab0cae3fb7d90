#!/usr/bin/env node

import './terminal/node-version.js';

const [, , noun = '', verb, ...rest] = process.argv;
// Everybody on this machine sees the arguments in the list of processes, and some are keys and tokens: only the command stays there.
process.title = /^[a-z]+$/.test(noun) ? `daybook ${noun}` : 'daybook';

/** The first word that is neither an option of the program nor the value of one: the command. */
function commandOf(words: readonly string[]): string {
  const [word = '', ...others] = words;
  if (!word.startsWith('-')) return word;
  return commandOf(word === '--data' ? others.slice(1) : others);
}

const command = commandOf(process.argv.slice(2));
// The work of these isn't to print: it goes on when the reader of their output or log has gone, for example a terminal or journald.
const goesOn = command === 'serve' || command === 'agent' || process.argv.includes('--watch');
process.stderr.on('error', () => {});
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (goesOn) return;
  // The reader of a pipe has enough.
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

// TRICKY: the system ignores a signal to the first process of a container that has no handler for it. Others end without one.
if (process.pid === 1)
  for (const [signal, code] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const])
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(code);
    });

// Agents wait for their hooks on every event: these start without what only the other commands need.
const isHelp = rest.some((word) => word === '--help' || word === '-h');
if (noun === 'hooks' && (verb === 'send' || verb === 'run' || verb === 'deliver') && !isHelp) {
  const { hookCommand } = await import('./hooks/hook-command.js');
  process.exit(await hookCommand(verb, rest, Date.now, process.env));
}

const { createProgram, fail } = await import('./command/program.js');
const { ended } = await import('./socket/afterwards.js');
const { program, invocation } = createProgram(Date.now, process.env);

/** Every command, in the order of the help. What a command alone needs is loaded when it runs. */
const COMMANDS: Readonly<
  Record<string, () => Promise<{ add: (to: typeof program, by: typeof invocation) => void }>>
> = {
  serve: () => import('./command/serve.js'),
  open: () => import('./command/open.js'),
  health: () => import('./command/health.js'),
  local: () => import('./command/local.js'),
  ingest: () => import('./command/ingest.js'),
  collect: () => import('./command/collect.js'),
  build: () => import('./command/build.js'),
  status: () => import('./command/status.js'),
  report: () => import('./command/report.js'),
  me: () => import('./command/me.js'),
  prices: () => import('./command/prices.js'),
  config: () => import('./command/show-config.js'),
  sql: () => import('./command/sql.js'),
  mcp: () => import('./command/mcp.js'),
  backup: () => import('./command/backup.js'),
  readiness: () => import('./command/readiness.js'),
  agent: () => import('./command/agent.js'),
  computers: () => import('./command/computers.js'),
  lake: () => import('./command/lake.js'),
  people: () => import('./command/people.js'),
  privacy: () => import('./command/privacy.js'),
  budgets: () => import('./command/budgets.js'),
  alerts: () => import('./command/alerts.js'),
  organizations: () => import('./command/organizations.js'),
  keys: () => import('./command/keys.js'),
  controls: () => import('./command/controls.js'),
  hooks: () => import('./command/hooks.js'),
  completion: () => import('./command/completion.js'),
};
// Completion is made from all of them.
const named = command !== 'completion' && Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
const loaded = await Promise.all(
  (named === undefined ? Object.values(COMMANDS) : [named]).map((load) => load()),
);
for (const { add } of loaded) add(program, invocation);

await program.parseAsync().then(ended).catch(fail);
