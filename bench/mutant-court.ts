import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { lastClosedDay } from '../src/day.js';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { DAY_TABLES } from '../src/store/catalog.js';
import { readFunctions, readSqlFolder } from '../src/store/sql-text.js';
import { staleDays } from '../src/store/stale-days.js';
import { newestBatch, type OrgDay } from '../src/store/store.js';
import {
  ask,
  type Case,
  cases,
  EVENTS,
  expectedOf,
  GOLDEN,
  likeExpected,
  orgOf,
  PRICES,
  questionsOf,
} from '../test/cases.js';
import { delivery, rightCopies, sameTables } from '../test/laws/arrival.js';
import {
  answersOf,
  CIRCUMSTANCES,
  difference,
  PRICE_LIST,
  RATE_CARD,
  rangesFault,
  sendAll,
  viewDifference,
} from '../test/laws/law.js';
import { pagesFault } from '../test/laws/pages.js';
import { answers as oracle } from '../test/oracle/answers.js';
import { copies, movingSessions, NOW, ofTheirOwn, organization } from '../test/oracle/generate.js';
import { Organization } from '../test/oracle/organization.js';
import { eventRows, viewRows } from '../test/oracle/views.js';
import { World } from '../test/world.js';
import type { Mutant } from './mutants.js';

/** What became of a mutant: a test failed, no test did, or the database doesn't take it for SQL. */
export interface Verdict {
  readonly outcome: 'killed' | 'survived' | 'invalid';
  readonly by: string;
}

/** Views that hold events as they are, or in words; for the functions, those that use them. */
const EVENT_VIEWS = /^(?!events$|user_[^t]|user_to|active_|sessions$)/;
const WORDED_VIEWS = /^(tool_calls|parse_artifacts|skill_uses|slash_commands)$/;

const SEED = 20260610;
/** Most mutants fall with the first organizations; the others are for those that don't. */
const ORGANIZATIONS = [12, 60];
/** What depends on the rate card. The golden cases with cards of their own are played for these alone. */
const RATED = /multiplier|_rate|tokens|millionths|user_models|users|quality/;
const TABLES = ['user_sessions', ...DAY_TABLES];

/** A store in which all events are, which mutants build again and again. */
interface Stage {
  readonly world: World;
  /** Whether its rate card is one of a few golden cases alone. */
  readonly isRated: boolean;
  /** Whether its tables, or its functions and views, are those of a mutant. */
  isRebuilt: boolean;
  isRedefined: boolean;
  readonly due: readonly OrgDay[];
  readonly batch: number;
  /** Whether the organization's answers are wrong: in which one. */
  readonly fault: (orgId: string, isAsked?: (family: string) => boolean) => Promise<string | undefined>;
  /** The same for pages of users, and for ranges of days. */
  readonly partFault: (orgId: string, isAsked: (family: string) => boolean) => Promise<string | undefined>;
  readonly viewFault: (orgId: string, isAsked?: (view: string) => boolean) => Promise<string | undefined>;
  readonly orgIds: readonly string[];
}

/** What the golden cases and laws do in tests, on stores that stay open: only the part that a mutant can change is done again. */
export class Court {
  private constructor(private readonly stages: readonly Stage[]) {}

  static async open(atEnd: (work: () => void | Promise<void>) => void): Promise<Court> {
    const stages: Stage[] = [];
    for (const [index, count] of ORGANIZATIONS.entries())
      stages.push(await lawStage(SEED + index, count, atEnd));
    for (const rateCard of new Set(cases.map((one) => one.rateCard)))
      stages.push(
        await goldenStage(
          cases.filter((one) => one.rateCard === rateCard),
          rateCard,
          atEnd,
        ),
      );
    for (const stage of stages) {
      await buildStage(stage);
      for (const orgId of stage.orgIds.slice(0, 5)) {
        const fault = await stage.fault(orgId);
        if (fault !== undefined) throw new Error(`without a mutant already ${orgId} fails: ${fault}`);
      }
      for (const table of TABLES)
        await stage.world.store.run([{ sql: `CREATE TABLE true_${table} AS FROM ${table}` }]);
    }
    return new Court(stages);
  }

  /** Puts the mutant in its place, and tries it until a test fails. */
  async try(mutant: Mutant): Promise<Verdict> {
    const path = join(PACKAGE_ROOT, 'sql', mutant.file);
    const original = readFileSync(path, 'utf8');
    writeFileSync(path, mutant.text);
    try {
      const by = await this.faultOf(mutant);
      return by === undefined ? { outcome: 'survived', by: '' } : { outcome: 'killed', by };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const isInvalid = /(Parser|Binder|Catalog|Syntax) Error/.test(message);
      return { outcome: isInvalid ? 'invalid' : 'killed', by: message.split('\n')[0] ?? '' };
    } finally {
      writeFileSync(path, original);
      for (const stage of this.stages) {
        if (stage.isRedefined) await define(stage.world);
        stage.isRedefined = false;
      }
    }
  }

  private async faultOf({ file, before }: Mutant): Promise<string | undefined> {
    if (/^(ingest|build)/.test(file)) return arrivalFault(file);
    const isDefinition = /^(schema|engine)/.test(file);
    const isEngine = file.startsWith('engine');
    for (const stage of this.stages) {
      if (stage.isRated && !RATED.test(file + before)) continue;
      if (isDefinition) {
        stage.isRedefined = true;
        await define(stage.world);
        // Views of events need no build, so most mutants of theirs fall here.
        const isAsked = (view: string) =>
          isEngine ? WORDED_VIEWS.test(view) : EVENT_VIEWS.test(view) && file === `schema/${view}.sql`;
        for (const orgId of stage.orgIds) {
          const fault = await stage.viewFault(orgId, isAsked);
          if (fault !== undefined) return fault;
        }
      }
      const fault = /^(report|answer)\//.test(file)
        ? await answerFault(stage, file)
        : await buildFault(stage);
      if (fault !== undefined) return fault;
      for (const orgId of isDefinition ? stage.orgIds.slice(0, 15) : []) {
        const viewFault = await stage.viewFault(orgId);
        if (viewFault !== undefined) return viewFault;
      }
    }
    return undefined;
  }
}

/** What is wrong with an answer that has this query's rows, from the tables as they should be. */
async function answerFault(stage: Stage, file: string): Promise<string | undefined> {
  if (stage.isRebuilt) await buildStage(stage);
  stage.isRebuilt = false;
  const isAsked = (family: string) => new RegExp(`^(report|answer)/${family}`).test(file);
  for (const [index, orgId] of stage.orgIds.entries()) {
    const fault =
      (await stage.fault(orgId, isAsked)) ?? (index < 20 ? await stage.partFault(orgId, isAsked) : undefined);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** What is wrong with any answer after a build. An organization whose tables are those without the mutant has the same answers. */
async function buildFault(stage: Stage): Promise<string | undefined> {
  stage.isRebuilt = true;
  await buildStage(stage);
  const seen = new Set<string>();
  for (const table of TABLES) {
    for (const orgId of await changedOrganizations(stage, table)) {
      const fault = seen.has(orgId)
        ? undefined
        : ((await stage.fault(orgId)) ?? (await stage.viewFault(orgId)));
      if (fault !== undefined) return fault;
      seen.add(orgId);
    }
  }
  return undefined;
}

async function lawStage(
  seed: number,
  count: number,
  atEnd: (work: () => void | Promise<void>) => void,
): Promise<Stage> {
  const world = await World.create({ DAYBOOK_RATE_CARD: RATE_CARD, DAYBOOK_PRICES: PRICE_LIST }, atEnd);
  world.now = NOW;
  const organizations = fc.sample(organization, { seed, numRuns: count });
  const orgIds = await sendAll(world, organizations);
  const sent = new Map(orgIds.map((orgId, index) => [orgId, organizations[index] ?? []]));
  const expected = new Map(
    orgIds.map((orgId, index) => [orgId, oracle(organizations[index] ?? [], CIRCUMSTANCES)]),
  );
  const views = new Map(
    orgIds.map((orgId, index) => [
      orgId,
      viewRows(new Organization(organizations[index] ?? [], CIRCUMSTANCES)),
    ]),
  );
  return {
    world,
    ...(await dueOf(world)),
    orgIds,
    isRated: false,
    isRebuilt: false,
    isRedefined: false,
    fault: async (orgId, isAsked) =>
      difference(await answersOf(world, orgId, undefined, isAsked), expected.get(orgId) ?? {}, isAsked),
    partFault: async (orgId, isAsked) =>
      (isAsked('users') ? await pagesFault(world, orgId) : undefined) ??
      (await rangesFault(world, orgId, sent.get(orgId) ?? [], isAsked)),
    viewFault: (orgId, isAsked = () => true) => {
      const asked = Object.entries(views.get(orgId) ?? {}).filter(([view]) => isAsked(view));
      return viewDifference(world, orgId, Object.fromEntries(asked));
    },
  };
}

async function goldenStage(
  together: readonly Case[],
  rateCard: string,
  atEnd: (work: () => void | Promise<void>) => void,
): Promise<Stage> {
  const world = await World.create({ DAYBOOK_RATE_CARD: rateCard, DAYBOOK_PRICES: PRICES }, atEnd);
  world.now = NOW;
  const questions = together.flatMap((one) =>
    questionsOf(one)
      .filter(({ when }) => when === 'expect')
      .map((question) => ({ name: one.name, question, expected: expectedOf(one, question) })),
  );
  for (const { name, files } of together) {
    for (const file of files) {
      const [, kind, org] = EVENTS.exec(file) ?? [];
      if (kind !== undefined) await world.ingest([join(GOLDEN, name, file)], { orgId: orgOf(name, org) });
    }
  }
  return {
    world,
    ...(await dueOf(world)),
    orgIds: [...new Set(questions.map(({ question }) => question.orgId))],
    fault: async (orgId) => {
      for (const { name, question, expected } of questions) {
        if (question.orgId !== orgId) continue;
        const answer = likeExpected(await ask(world, question), expected);
        if (!isDeepStrictEqual(answer, expected)) return `golden case ${name}, ${question.file}`;
      }
      return undefined;
    },
    isRated: together.length < 10,
    partFault: async () => undefined,
    viewFault: async () => undefined,
    isRebuilt: false,
    isRedefined: false,
  };
}

async function dueOf(world: World): Promise<{ due: OrgDay[]; batch: number }> {
  return {
    due: await staleDays(world.store, lastClosedDay(world.now)),
    batch: await newestBatch(world.store),
  };
}

/** From nothing, larger stages in two pieces: then what a query answers for days that are not due is there twice. */
async function buildStage({ world, due, batch, orgIds }: Stage): Promise<void> {
  await world.store.run([...TABLES, 'days', 'touches'].map((table) => ({ sql: `DELETE FROM ${table}` })));
  const middle = orgIds.length > (ORGANIZATIONS[0] ?? 0) ? '2026-06-04' : '';
  const pieces = [due.filter(({ day }) => day < middle), due.filter(({ day }) => day >= middle)];
  for (const piece of pieces) if (piece.length > 0) await world.store.build(piece, batch, NOW);
}

/** The organizations whose rows of a table are others than without the mutant. */
async function changedOrganizations({ world }: Stage, table: string): Promise<string[]> {
  const rows = await world.store.select(
    `SELECT DISTINCT org_id FROM (
      (FROM ${table} EXCEPT ALL FROM true_${table}) UNION ALL (FROM true_${table} EXCEPT ALL FROM ${table})
    ) ORDER BY org_id`,
  );
  return rows.map(({ org_id }) => String(org_id));
}

/** Makes the functions and views as their files say now. */
async function define(world: World): Promise<void> {
  const views = readSqlFolder('schema').filter(({ text }) => text.includes('CREATE OR REPLACE VIEW'));
  // Twice, since a view can stand on another.
  const sql = [readFunctions(), ...views.map(({ text }) => text), ...views.map(({ text }) => text)];
  await world.store.run(sql.map((text) => ({ sql: text })));
}

/** What is wrong with the events that stand: of pairs of copies, and of ids that come again on the same and on other days. */
async function eventFaults(world: World): Promise<(string | undefined)[]> {
  const pairs = fc.sample(copies, { seed: SEED, numRuns: 5 }).flat().map(ofTheirOwn);
  const faults = await rightCopies(world)([pairs]);
  for (const events of fc.sample(movingSessions, { seed: SEED, numRuns: 5 })) {
    const [orgId = ''] = await sendAll(world, [events]);
    const rows = eventRows(new Organization(events, CIRCUMSTANCES));
    faults.push(await viewDifference(world, orgId, { events: rows }));
  }
  return faults;
}

/** What decides how events settle and which days are built again shows only when they arrive: a store of its own. */
async function arrivalFault(file: string): Promise<string | undefined> {
  const undo: (() => void | Promise<void>)[] = [];
  try {
    const world = await World.create({ DAYBOOK_RATE_CARD: RATE_CARD }, (work) => undo.unshift(work));
    world.now = NOW;
    const tries: (() => Promise<(string | undefined)[]>)[] = [1, 2, 3].map(
      (seed) => () => sameTables(world)(fc.sample(delivery, { seed: SEED + seed, numRuns: 4 })),
    );
    if (file.startsWith('ingest')) tries.unshift(() => eventFaults(world));
    for (const attempt of tries) {
      const fault = (await attempt()).find((one) => one !== undefined);
      if (fault !== undefined) return fault;
    }
    return undefined;
  } finally {
    for (const work of undo) await work();
  }
}
