#!/usr/bin/env node

// The program of the package that scripts/collector.js makes: `collect` alone, for machines that run no service.

import './terminal/node-version.js';

// Everybody on this machine sees the arguments in the list of processes, and the key can be one of them.
process.title = 'daybook';

const { add } = await import('./command/collect.js');
const { createProgram, fail } = await import('./command/program.js');
const { program, invocation } = createProgram(Date.now, process.env);
add(program, invocation);
await program.parseAsync().catch(fail);
