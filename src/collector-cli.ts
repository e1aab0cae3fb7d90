#!/usr/bin/env node

// The program of the package that scripts/collector.js makes: `collect` alone, for machines that run no service.

import { add } from './command/collect.js';
import { createProgram, fail } from './command/program.js';

// A key among the arguments is in the list of processes until this takes them off it.
if (process.argv.includes('--key')) process.title = 'daybook';

const { program, invocation } = createProgram(Date.now, process.env);
add(program, invocation);
await program.parseAsync().catch(fail);
