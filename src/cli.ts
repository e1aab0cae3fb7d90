#!/usr/bin/env node

import './terminal/node-version.js';

const { runProgram } = await import('./command/run-program.js');

await runProgram({
  serve: () => import('./command/serve.js'),
  open: () => import('./command/open.js'),
  migrate: () => import('./command/migrate.js'),
  move: () => import('./command/move-store.js'),
  health: () => import('./command/health.js'),
  local: () => import('./command/local.js'),
  ingest: () => import('./command/ingest.js'),
  collect: () => import('./command/collect.js'),
  run: () => import('./command/run.js'),
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
  pull: () => import('./command/pull.js'),
  organizations: () => import('./command/organizations.js'),
  keys: () => import('./command/keys.js'),
  controls: () => import('./command/controls.js'),
  hooks: () => import('./command/hooks.js'),
  completion: () => import('./command/completion.js'),
});
