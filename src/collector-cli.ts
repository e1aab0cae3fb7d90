#!/usr/bin/env node

// The program of the package that scripts/collector.js makes, for machines that run no service.

import './terminal/node-version.js';

const { runProgram } = await import('./command/run-program.js');

await runProgram(
  {
    collect: () => import('./command/collect.js'),
    run: () => import('./command/run.js'),
    hooks: () => import('./command/hooks.js'),
    me: () => import('./command/me.js'),
    readiness: () => import('./command/readiness.js'),
    agent: () => import('./command/agent.js'),
  },
  true,
);
