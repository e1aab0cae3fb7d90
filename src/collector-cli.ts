#!/usr/bin/env node

// The program of the package that scripts/collector.js makes: `collect` alone, for machines that run no service.

import { add } from './command/collect.js';
import { createProgram, fail } from './command/program.js';

// Everybody on this machine sees the arguments in the list of processes, and the key can be one of them.
process.title = 'daybook';

const { program, invocation } = createProgram(Date.now, process.env);
add(program, invocation);
await program.parseAsync().catch(fail);
