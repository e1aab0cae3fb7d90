import { fileURLToPath } from 'node:url';
import { budgets } from './budgets.js';
import { ccusage } from './ccusage.js';
import { collect } from './collect.js';
import { company } from './company.js';
import { emptyDays } from './empty-days.js';
import { engines } from './engines.js';
import { events } from './events.js';
import { first } from './first.js';
import { hostile } from './hostile.js';
import { inbox } from './inbox.js';
import { laptops } from './laptops.js';
import { organizations } from './organizations.js';
import { otlp } from './otlp.js';
import { page } from './page.js';
import { peers } from './peers.js';
import { postgres } from './postgres.js';
import { scale } from './scale.js';
import { serve } from './serve.js';
import { sql } from './sql.js';
import { summary } from './summary.js';

/** What `npm run bench -- NAME` runs. */
const benches: Record<string, (root: string, args: readonly string[]) => Promise<void>> = {
  peers,
  ccusage,
  collect,
  laptops,
  engines,
  serve,
  first,
  'empty-days': emptyDays,
  events,
  inbox,
  otlp,
  organizations,
  hostile,
  sql,
  summary,
  budgets,
  company,
  page,
  postgres,
  scale,
};

const [name = '', ...args] = process.argv.slice(2);
const bench = benches[name];
if (bench === undefined) {
  console.error(`Name a bench: npm run bench -- ${Object.keys(benches).join('|')}`);
  process.exitCode = 2;
} else {
  await bench(fileURLToPath(new URL('../../..', import.meta.url)), args);
}
