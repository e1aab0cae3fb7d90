import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runBuild } from '../src/aggregate/build-run.js';
import { ANSWERS } from '../src/api/answer-names.js';
import { report } from '../src/api/answer-rows.js';
import { createKey, listKeys } from '../src/api/api-keys.js';
import { DuckDBInstance } from '../src/arrow/duckdb-driver.js';
import { Controls } from '../src/controls/control-revisions.js';
import { SecretKey } from '../src/controls/secret-key.js';
import type { Day } from '../src/day.js';
import { ingest } from '../src/ingest/ingest-files.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL, CLAUDE_CODE, CODEX, type Source } from '../src/ingest/source.js';
import { Lake } from '../src/lake/data-lake.js';
import { type ErasureContext, erasePerson, finishErasures } from '../src/people/erasure.js';
import { replacePeople } from '../src/people/people-change.js';
import { peopleLines, withLines } from '../src/people/people-file.js';
import { buildApp } from '../src/service/app.js';
import { connect } from '../src/store/duckdb-session.js';
import { addEntries } from '../src/store/state/access-log.js';
import { changeBudgets } from '../src/store/state/budget-revisions.js';
import { forgetNames } from '../src/store/state/erased-names.js';
import { changePrivacy } from '../src/store/state/privacy-revisions.js';
import { saveScimUser } from '../src/store/state/scim-users.js';
import type { Store } from '../src/store/store.js';
import { textsInDatabase } from './clickhouse/engine.js';
import { textsInState } from './postgres/server.js';
import { playsSlow } from './slow.js';
import { event, lines, NOW, slow, storeName, World } from './world.js';

/** Everything that names the person, in texts that nothing else has. */
const NAMES = {
  user: 'zqx-wilhelmina',
  alias: 'zqxlaptop77',
  sub: '00uzqxsub',
  email: 'zqxmail@acme.example',
  local: 'zqxmail',
  name: 'Zqxina Zqxmann',
};
const BYTES = Object.values(NAMES);

const HOME = `/home/${NAMES.user}`;

function eventsOf(orgId: string): object[] {
  const days = ['2026-06-01', '2026-06-02', '2026-06-10'];
  return days.flatMap((day, place) => {
    const of = (user_id: string, id: string, more: object) =>
      event(`${user_id}-${id}-${day}`, {
        timestamp: `${day}T10:0${place}:00Z`,
        user_id,
        session_id: `s-${user_id}-${place}`,
        agent: 'claude-code',
        client: 'terminal-ui',
        org_id: orgId,
        ...more,
      });
    const people = [NAMES.user, NAMES.alias, 'grace', 'test'];
    return people.flatMap((user) => {
      const mine = user === NAMES.user || user === NAMES.alias;
      const repo = mine ? `https://github.com/${NAMES.user}/dotfiles` : 'https://github.com/acme/test';
      const where = mine
        ? { repo, git_branch: `${NAMES.local}/fix`, cwd: `${HOME}/api`, user_email: NAMES.email }
        : { repo, git_branch: 'main', cwd: '/srv/api' };
      return [
        of(user, 'a', where),
        of(user, 'b', {
          ...where,
          type: 'model_usage',
          model: 'claude-opus-4-5',
          input_tokens: 1000 + place,
          output_tokens: 7,
        }),
        of(user, 'c', { ...where, type: 'tool_call', tool_name: 'Edit', autonomy_mode: 'spec' }),
        of(user, 'd', {
          ...where,
          type: 'file_change',
          path: mine ? `${HOME}/api/a.ts` : '/srv/api/a.py',
          operation: 'edit',
          lines_added: 3,
        }),
        // In another repository, within the same session.
        of(user, 'e', {
          ...where,
          repo: 'https://github.com/acme/api',
          type: 'git_commit',
          commit_sha: `${place}`,
        }),
        of(user, 'f', {
          ...where,
          type: 'hook_run',
          hook_event: 'Stop',
          command: mine ? `${HOME}/check.sh` : 'npm run test',
          exit_code: 0,
        }),
        of(user, 'g', {
          type: 'skill_use',
          skill_name: mine ? `${NAMES.user}-standup` : 'review',
          ...{ team: mine ? `${NAMES.user}-team` : 'platform', cost_center: '4711' },
        }),
        // Somebody else in the folder and in the repository of the person.
        ...(user === 'grace'
          ? [
              of(user, 'h', {
                cwd: `/srv/${NAMES.user}/api`,
                repo: `git@github.com:${NAMES.user}/dotfiles.git`,
                user_email: NAMES.email,
              }),
              of(user, 'i', { type: 'file_change', path: `/home/${NAMES.user}/x.go`, operation: 'create' }),
            ]
          : []),
      ];
    });
  });
}

const ORG = 'acme';
const RANGE = { from: '2026-06-01' as Day, to: '2026-06-11' as Day };

/** A world in which everything that can names the person does. */
async function populated() {
  const world = await World.create();
  const { store, config, clock } = world;
  await world.send(eventsOf(ORG), { orgId: ORG });
  // A line that is rejected, and kept.
  await world.send(
    [`{"user_id":"${NAMES.user}", broken`, event('x', { type: 'nothing', user_id: NAMES.user })],
    {
      orgId: ORG,
    },
  );
  const text = `user_id,name,email,alias,team\n${NAMES.user},${NAMES.name},${NAMES.email},${NAMES.alias};${NAMES.sub},Web\ngrace,Grace,,,Web\ntest,Test,,,Ops\n`;
  await replacePeople(
    store,
    ORG,
    (before) =>
      withLines(before, peopleLines(text, 'people.csv'), { today: '2026-07-01' as Day, replaces: false }),
    { author: NAMES.user },
    world.now,
  );
  const key = await createKey(
    store,
    { orgId: ORG, role: 'member', userId: NAMES.user, email: NAMES.email, name: `${NAMES.name} laptop` },
    world.now,
  );
  await createKey(store, { orgId: ORG, role: 'owner', userId: 'grace', createdBy: NAMES.user }, world.now);
  const privacy = { mode: 'open', smallestGroup: 5, auditors: [NAMES.user] } as const;
  await changePrivacy(store, ORG, () => privacy, NAMES.user, world.now);
  const budget = { scope: 'person', name: NAMES.user, usd: 10 } as const;
  const ofAlias = { scope: 'person', name: NAMES.alias, usd: 20 } as const;
  await changeBudgets(store, ORG, () => [budget, ofAlias], NAMES.user, world.now);
  await saveScimUser(
    store,
    ORG,
    {
      scimId: 'c0ffee00-0000-4000-8000-000000000000',
      ...{ userId: NAMES.user, userName: NAMES.email, externalId: NAMES.sub, isActive: true },
      profile: { displayName: NAMES.name, emails: [{ value: NAMES.email, primary: true }] } as never,
      ...{ createdAt: world.now, modifiedAt: world.now },
    },
    { isNew: true },
  );
  await new Controls(store, new SecretKey(config), clock).replace(
    ORG,
    {},
    { id: NAMES.user, email: NAMES.email, name: NAMES.name },
  );
  await addEntries(
    store,
    [1, 2].map((entryNo) => ({
      ...{ orgId: ORG, entryNo, askedAt: world.now, fingerprint: 'f', address: '::1', path: '/x' },
      ...{
        scope: 'user',
        about: NAMES.user,
        userId: NAMES.user,
        sqlDigest: null,
        sqlTables: null,
        status: 200,
      },
    })),
  );
  const files = storeName() === 'DuckDB' ? 'ingested_files' : 'ingested_files_rows';
  const at = `instant(${world.now})`;
  await store.run([
    { sql: `INSERT INTO ${files} SELECT 'acme', 'codex', '${NAMES.user}', '${HOME}/a.jsonl', 's', 1` },
  ]);
  const rows = [
    `deleted_scim_users SELECT 'acme', '${NAMES.sub}', ${at}`,
    `ended_tickets SELECT 'user acme ${NAMES.user}', ${at}`,
    `computers SELECT 'cmp_1', 'acme', 'pc-${NAMES.user}', 'byom', 'active', 'human', '${NAMES.user}', NULL, '${NAMES.user}.local', '${NAMES.user}', '["github.com/${NAMES.user}/x"]', false, NULL, '[]', 'h', NULL, ${at}`,
    `heartbeats SELECT 'acme', '${NAMES.alias}', 'c1', '', ${at}, NULL, '${NAMES.user}.local', '0.2.0', 'f'`,
    `heartbeats SELECT 'acme', 'grace', 'c2', '', ${at}, NULL, '${NAMES.user}-old', '0.2.0', 'f'`,
    `silence_acknowledgements SELECT 'acme', '${NAMES.user}', 'agent', 'codex', DATE '2026-06-02', ${at}, 'grace', NULL`,
    `silence_acknowledgements SELECT 'acme', 'grace', 'agent', 'codex', DATE '2026-06-02', ${at}, '${NAMES.user}', 'has the laptop of ${NAMES.user}'`,
    `hidden_marks SELECT 'acme', '${NAMES.user}', DATE '2026-06-02', DATE '2026-06-09', ${at}, 'grace'`,
    `hidden_marks SELECT 'acme', 'grace', DATE '2026-06-02', DATE '2026-06-09', ${at}, '${NAMES.user}'`,
    `alert_revisions SELECT 'acme', 1, '{"ways":[{"name":"mail","to":["${NAMES.email}"]}],"mutes":[{"reason":"laptop of ${NAMES.user}"}]}', '${NAMES.user}', ${at}`,
    `alerts SELECT 'acme', 'silent', 'collector ${NAMES.user} c1', '${NAMES.user}', '{"user_id":"${NAMES.user}"}', ${at}, NULL`,
    `deliveries SELECT 'acme', 'msg_1', 'alerts', 'mail', ${at}, NULL, '', ${at}, 'undelivered', 7, ${at}, '550 no box of ${NAMES.email}'`,
    `vendor_revisions SELECT 'acme', 1, '{"vendors":[{"url":"https://proxy.${NAMES.user}.example"}]}', '${NAMES.user}', ${at}`,
    `vendor_pulls SELECT 'acme', 'anthropic-claude-code', ${at}, 1, 1, '[]', 'it answers ${NAMES.email}'`,
    `vendor_roster SELECT 'acme', 'github-seats', '${NAMES.alias}', '', '', true, '', ${at}`,
    `vendor_roster SELECT 'acme', 'cursor-members', 'other@acme.example', '${NAMES.user}', 'Web', true, '', ${at}`,
    `vendor_roster SELECT 'acme', 'cursor-members', 'grace@acme.example', 'Grace', 'Web', true, '', ${at}`,
    `vendor_bills SELECT 'acme', 'openai-costs', 'openai', DATE '2026-06-02', 'project of ${NAMES.user}', 1.5, 1.5, NULL, ''`,
    `readiness_reports SELECT 'acme', 'r1', ${at}, 'repo_1', 'github.com/acme/api', '{"by":"${NAMES.user}"}'`,
    `readiness_reports SELECT 'acme', 'r2', ${at}, 'repo_2', 'github.com/${NAMES.user}/dotfiles', '{}'`,
  ];
  await store.run(rows.map((row) => ({ sql: `INSERT INTO ${row}` })));
  // What was asked of an agent, and is done.
  await store.shared?.run([
    {
      sql: `INSERT INTO agent_jobs VALUES ('job', 'cmp_1', 'here', 'there', '{"destPath":"${HOME}"}', 1, true, NULL, NULL)`,
    },
    { sql: 'DELETE FROM agent_jobs' },
  ]);
  const lake = new Lake(config, clock);
  const build = () =>
    runBuild(store, 'command', {}, clock, { publish: (days) => lake.publish(store, days) }).then(
      (run) => run.finished,
    );
  await build();
  // An earlier version of what is published.
  world.now += 60_000;
  await world.send(
    [event('late', { timestamp: '2026-06-02T11:00:00Z', user_id: NAMES.user, user_email: NAMES.email })],
    {
      orgId: ORG,
    },
  );
  await build();
  // Copies that nothing reads.
  mkdirSync(join(config.data, 'backups'));
  writeFileSync(join(config.data, 'backups', 'daybook-0068-20260601T000000Z.duckdb'), NAMES.user);
  const context: ErasureContext = {
    ...{ store, lake, data: config.data, clock },
    settle: () => world.inbox.drain(store).then(() => world.inbox.setAside),
  };
  const erase = (more: object = {}) =>
    erasePerson(context, { orgId: ORG, user: NAMES.user, author: 'root', isTrial: false, ...more });
  return { world, store, config, key, context, erase, build };
}

function importing(store: Store, text: string) {
  return replacePeople(
    store,
    ORG,
    (before) =>
      withLines(before, peopleLines(text, 'people.csv'), { today: '2026-07-01' as Day, replaces: false }),
    { author: 'root' },
    NOW,
  );
}

/** A world with a few events of the person, which are built and published. */
async function small() {
  const world = await World.create();
  const { store, config, clock } = world;
  await world.send(eventsOf(ORG), { orgId: ORG });
  await importing(
    store,
    `user_id,name,email,alias,team\n${NAMES.user},${NAMES.name},${NAMES.email},${NAMES.alias};${NAMES.sub},Web\n`,
  );
  const lake = new Lake(config, clock);
  const run = await runBuild(store, 'command', {}, clock, { publish: (days) => lake.publish(store, days) });
  await run.finished;
  const context: ErasureContext = {
    ...{ store, lake, data: config.data, clock },
    settle: () => world.inbox.drain(store).then(() => world.inbox.setAside),
  };
  const erase = (more: object = {}) =>
    erasePerson(context, { orgId: ORG, user: NAMES.user, author: 'root', isTrial: false, ...more });
  return { world, store, config, context, erase };
}

/** The names that are in a file, as it is and as whoever can read it sees it. */
async function namesIn(path: string): Promise<string[]> {
  const bytes = readFileSync(path);
  const texts = [bytes.toString('latin1')];
  if (bytes.subarray(0, 2).toString('hex') === '1f8b') texts.push(gunzipSync(bytes).toString('latin1'));
  if (path.endsWith('.parquet') || path.endsWith('.duckdb')) texts.push(await textOf(path));
  const text = texts.join('\n').toLowerCase();
  return BYTES.filter((name) => text.includes(name.toLowerCase()));
}

/** All rows in a Parquet file or a database, as a text. */
async function textOf(path: string): Promise<string> {
  const instance = await DuckDBInstance.create(':memory:');
  try {
    const session = await connect(instance);
    if (path.endsWith('.parquet')) return JSON.stringify(await rowsIn(session, `read_parquet('${path}')`));
    await session.run(`ATTACH '${path}' AS found (READ_ONLY)`).catch(() => undefined);
    const tables = await session.select(
      "SELECT table_name FROM duckdb_tables() WHERE database_name = 'found'",
    );
    const all = [];
    for (const { table_name } of tables) all.push(await rowsIn(session, `found.${table_name}`));
    return JSON.stringify(all);
  } finally {
    instance.closeSync();
  }
}

async function rowsIn(session: { select: Store['select'] }, from: string) {
  return session.select(`SELECT CAST(to_json(one) AS VARCHAR) AS text FROM ${from} AS one`);
}

/** The files of the data folder that have one of the names, and what there is of them in the databases that go with it. */
async function traces(data: string): Promise<Record<string, string[]>> {
  const found = {
    ...(storeName() === 'DuckDB' ? {} : await textsInDatabase(data, BYTES)),
    ...(storeName() === 'PostgreSQL' ? await textsInState(data, BYTES) : {}),
  };
  for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
    const path = join(data, name);
    if (BYTES.some((one) => name.includes(one))) found[name] = ['its name'];
    if (!statSync(path).isFile()) continue;
    const names = await namesIn(path);
    if (names.length > 0) found[name] = names;
  }
  return found;
}

/** By what an answer is grouped: summaries in ClickHouse by one thing alone, because each takes seconds. */
function groupingsOf(answer: string): readonly (string | undefined)[] {
  if (answer === 'summary' && storeName() !== 'DuckDB') return ['team'];
  return answer === 'costs' || answer === 'summary' ? [undefined, 'team', 'user', 'model'] : [undefined];
}

/** All answers, with their rows in an order that doesn't depend on names. */
async function totals(store: Store): Promise<Record<string, string[]>> {
  const answers: Record<string, string[]> = {};
  for (const answer of ANSWERS)
    for (const groupBy of groupingsOf(answer)) {
      const { data } = await report(store, answer, {
        ...{ orgId: ORG, ...RANGE, groupBy, limit: undefined, historyStart: '2020-01-01' as Day },
      } as never);
      answers[`${answer} ${groupBy}`] = data.map(hidden).sort();
    }
  return answers;
}

/** A row in which every user is told by the numbers alone, without what says which rows are stored. */
function hidden(row: object): string {
  const text = JSON.stringify({
    ...row,
    user_email: null,
    digests: null,
    restatements: null,
    last_built_at: null,
    built_at: null,
  });
  const anonymous = BYTES.reduce((all, name) => all.replaceAll(name, 'somebody'), text)
    .replaceAll(/erased-[0-9a-f]{8}(-w?\d+)?/g, 'somebody')
    .replaceAll(/"user_email":"[^"]*"/g, '"user_email":null')
    .replaceAll(/"(somebody|grace|test)"/g, '"anybody"');
  return JSON.stringify(inOrder(JSON.parse(anonymous)));
}

/** A value whose lists are in an order of their own. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => JSON.stringify(inOrder(one))).sort();
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, inOrder(inner)]));
}

async function digestsOf(store: Store) {
  return store.select(
    `SELECT day, table_name, row_count, digest FROM digests WHERE org_id = 'acme' AND table_name <> 'session_parts' ORDER BY ALL`,
  );
}

describe('an erased person', () => {
  test('is found in no byte of the data folder, and all totals stay', async () => {
    const { world, store, config, key, erase, build } = await populated();
    const before = await totals(store);
    expect(Object.keys(await traces(config.data)).length).toBeGreaterThan(5);
    const trial = await erase({ isTrial: true });
    expect(trial.pseudonym).toBeNull();
    expect(trial.counts.find(({ what }) => what === 'keys')?.count).toBe(1);
    expect(await totals(store)).toEqual(before);
    const done = await erase();
    expect(done.pseudonym).toMatch(/^erased-[0-9a-f]{8}$/);
    expect(done.counts).toEqual(trial.counts);
    expect(await totals(store)).toEqual(before);
    // What is still in the log of the database.
    expect(await traces(config.data)).toEqual({});
    const keys = await listKeys(store, ORG);
    expect(keys.find(({ key_id }) => key_id === key.key_id)?.revoked_at).not.toBeNull();
    // A build of all days gives the same rows, but for sessions that count for another repository.
    const digests = await digestsOf(store);
    await runBuild(store, 'command', { all: true }, world.clock).then(({ finished }) => finished);
    expect(await digestsOf(store)).toEqual(digests);
    expect(await totals(store)).toEqual(before);
    await build();
    expect(await traces(config.data)).toEqual({});
    // Nobody waits for machines of the person any more.
    expect(await store.select('SELECT user_id FROM heartbeats')).toEqual([{ user_id: 'grace' }]);
    expect(await store.select('SELECT user_id FROM vendor_roster')).toEqual([
      { user_id: 'grace@acme.example' },
    ]);
    expect(await store.select('SELECT user_id, author FROM hidden_marks')).toEqual([
      { user_id: 'grace', author: done.pseudonym },
    ]);
    expect(await store.select('SELECT user_id, author FROM silence_acknowledgements')).toEqual([
      { user_id: 'grace', author: done.pseudonym },
    ]);
    // The repository of everybody stays, and places of others that name the person go.
    const [rest] = await store.select(
      "SELECT count(*) FILTER (WHERE repo LIKE '%acme/test') AS shared, count(*) FILTER (WHERE cwd IS NULL) AS nowhere FROM events WHERE user_id = 'grace'",
    );
    expect(Number(rest?.shared)).toBeGreaterThan(10);
    expect(Number(rest?.nowhere)).toBeGreaterThan(2);
    await store.close();
    expect(await traces(config.data)).toEqual({});
  });

  slow(
    'is gone from days whose events were removed, and a user called as many things are takes nothing along',
    async () => {
      const { store, config, erase } = await small();
      await store.removeEvents([{ orgId: ORG, day: '2026-06-01' as Day }], NOW);
      const before = await totals(store);
      await erase();
      expect(await totals(store)).toEqual(before);
      expect(await traces(config.data)).toEqual({});
      await erase({ user: 'test' });
      expect(await totals(store)).toEqual(before);
      const [left] = await store.select(
        "SELECT count(*) AS commands FROM user_hooks WHERE command = 'npm run test' AND user_id = 'grace'",
      );
      expect(Number(left?.commands)).toBe(3);
      const repos = await store.select(
        "SELECT DISTINCT repo FROM session_parts WHERE user_id = 'grace' ORDER BY repo",
      );
      expect(repos.map(({ repo }) => repo)).toEqual(['', 'github.com/acme/api', 'github.com/acme/test']);
    },
  );

  // Each takes many seconds, in ClickHouse half a minute, where test/clickhouse/kill.test.ts interrupts the others.
  const isMeant = ([step]: readonly [string, number]) =>
    storeName() === 'DuckDB'
      ? playsSlow() || ['run', 'rewrite', 'publish'].includes(step)
      : playsSlow() && step === 'renewFile';
  const steps: [step: string, time: number][] = [
    ['settle', 2],
    ['run', 3],
    ['rewrite', 1],
    ['forget', 1],
    ['renewFile', 1],
    ['publish', 1],
  ];
  test.each(steps.filter(isMeant))('is erased whole if %s %i is interrupted', async (step, time) => {
    const { store, config, context } = await small();
    const before = await totals(store);
    let calls = 0;
    const failing = <T extends object>(target: T): T =>
      new Proxy(target, {
        get: (_, name) => {
          const member: unknown = Reflect.get(target, name, target);
          if (typeof member !== 'function') return member;
          if (name === 'inTurn')
            return (turn: string, work: (given: object) => unknown) =>
              member.call(target, turn, (given: object) => work(failing(given)));
          return (...args: unknown[]) => {
            if (name === step) calls += 1;
            if (name === step && calls === time) throw new Error('killed');
            return member.apply(target, args);
          };
        },
      });
    const cut = failing({ ...context, store: failing(store), lake: failing(context.lake) });
    await expect(
      erasePerson(cut, { orgId: ORG, user: NAMES.user, author: 'root', isTrial: false }),
    ).rejects.toThrow('killed');
    await store.close();
    const { store: again } = await World.create({ DAYBOOK_DATA: config.data });
    forgetNames(again);
    const lake = new Lake(config, () => NOW);
    expect([
      step,
      await finishErasures({ ...context, store: again, lake, settle: async () => [] }, 'root'),
    ]).toEqual([step, step === 'publish' ? 0 : 1]);
    await lake.publish(again, []);
    expect(await totals(again)).toEqual(before);
    expect([step, await traces(config.data)]).toEqual([step, {}]);
    expect(await lake.verify(again)).toMatchObject({ differences: [] });
  });

  test('keeps all events when the mapping of files changes, and others have theirs once', async () => {
    const world = await World.create();
    const { store, config, clock } = world;
    const former = { ...CLAUDE_CODE, sql: join(world.folder, 'former') };
    cpSync(CLAUDE_CODE.sql, former.sql, { recursive: true });
    const sql = readFileSync(join(CLAUDE_CODE.sql, 'events.sql'), 'utf8');
    world.file(
      'former/events.sql',
      `SELECT * REPLACE (event_id || ':former' AS event_id) FROM (${sql}) WHERE type = 'model_usage'`,
    );
    const put = (path: string, sessionId: string, cwd: string) => {
      const usage = { input_tokens: 1, output_tokens: 2 };
      const message = { id: `m-${sessionId}`, model: 'opus', content: [], usage };
      const timestamp = '2026-06-01T10:00:00Z';
      mkdirSync(join(world.folder, path), { recursive: true });
      world.file(
        join(path, `${sessionId}.jsonl`),
        `${JSON.stringify({ type: 'assistant', uuid: `u-${sessionId}`, sessionId, cwd, timestamp, message })}\n`,
      );
    };
    const [hers, morning, noon] = [1, 2, 3].map((one) => `${one}1111111-0000-4000-8000-000000000000`);
    put('hers', String(hers), HOME);
    put('of grace', String(morning), `/srv/${NAMES.user}/api`);
    put(`of grace/${NAMES.user}`, String(noon), '/srv/api');
    const read = (source: Source, userId: string, folder: string) =>
      ingest(
        store,
        { orgId: ORG, source, userId, files: inputFiles([join(world.folder, folder)], source) },
        clock,
      );
    const events = () => store.select('SELECT session_id, event_id, user_id FROM events ORDER BY ALL');
    await read(former, NAMES.user, 'hers');
    await read(former, 'grace', 'of grace');
    const context: ErasureContext = {
      ...{ store, lake: new Lake(config, clock), data: config.data, clock },
      settle: () => world.inbox.drain(store).then(() => world.inbox.setAside),
    };
    const { pseudonym } = await erasePerson(context, {
      ...{ orgId: ORG, user: NAMES.user, author: 'root', isTrial: false },
    });
    expect((await read(former, 'grace', 'of grace')).accepted).toBe(0);
    await expect(read(CLAUDE_CODE, NAMES.user, 'hers')).rejects.toThrow('a person who was erased');
    await read(CLAUDE_CODE, 'grace', 'of grace');
    expect(await events()).toEqual([
      { session_id: hers, event_id: `usage:m-${hers}::former`, user_id: pseudonym },
      ...[morning, noon].flatMap((session_id) => [
        { session_id, event_id: `message:m-${session_id}`, user_id: 'grace' },
        { session_id, event_id: `usage:m-${session_id}:`, user_id: 'grace' },
      ]),
    ]);
    expect(await read(CLAUDE_CODE, 'grace', 'of grace')).toMatchObject({ files: 0, unchanged: 2 });
    const [arrived] = await store.select('SELECT sum(accepted) AS accepted FROM arrivals');
    expect(Number(arrived?.accepted)).toBe(5);
  });

  test('takes along copies that Daybook made and nothing else, which the preview names', async () => {
    const { config, erase } = await small();
    const own = [
      'replaced-20260601T000000Z',
      'replaced-20260601T000000Z-2',
      'daybook.duckdb.wal.damaged-20260601T000000Z',
      'backups/daybook-0068-20260601T000000Z.duckdb',
    ];
    const kept = [
      'replaced-notes',
      'backups/mine.tar',
      'backups/daybook-old.duckdb',
      'daybook.duckdb.wal.damaged-x',
    ];
    mkdirSync(join(config.data, 'backups'));
    for (const name of [...own, ...kept]) writeFileSync(join(config.data, name), 'x');
    const paths = own.map((name) => join(config.data, name)).sort();
    const trial = await erase({ isTrial: true });
    expect([...trial.deleted].sort()).toEqual(paths);
    expect(trial.counts).toContainEqual(expect.objectContaining({ what: 'database copies', count: 4 }));
    expect((await erase()).deleted).toEqual(trial.deleted);
    expect(own.filter((name) => existsSync(join(config.data, name)))).toEqual([]);
    expect(kept.filter((name) => existsSync(join(config.data, name)))).toEqual(kept);
  });

  slow('is found by an address that only events have, unless several users have it', async () => {
    const { world, store, erase } = await small();
    const said = (id: string, user_id: string, user_email: string) => event(id, { user_id, user_email });
    await world.send(
      [
        said('1', 'u-1', 'jane@acme.example'),
        said('2', 'ann', 'team@acme.example'),
        said('3', 'bob', 'team@acme.example'),
      ],
      { orgId: ORG },
    );
    await expect(erase({ user: 'team@acme.example' })).rejects.toThrow(
      '2 users of acme have this address: ann, bob. Erase each of them by the user id.',
    );
    expect(await erase({ user: 'jane@acme.example' })).toMatchObject({ names: 2 });
    const left = await store.select(
      "SELECT user_id, user_email FROM events WHERE user_id = 'u-1' OR user_email = 'jane@acme.example'",
    );
    expect(left).toEqual([]);
  });

  slow('is not named by whoever asks about the person afterwards', async () => {
    const { store, erase } = await small();
    await erase();
    const entry = { orgId: ORG, askedAt: NOW, fingerprint: 'f', userId: 'grace', address: '192.0.2.7' };
    const rest = { path: '/', scope: 'user', sqlDigest: null, sqlTables: null, status: 200 } as const;
    await addEntries(store, [
      { ...entry, ...rest, entryNo: 1, about: NAMES.alias },
      { ...entry, ...rest, entryNo: 2, about: 'test' },
    ]);
    const rows = await store.select('SELECT about FROM access_log ORDER BY entry_no');
    expect(rows.map(({ about }) => about)).toEqual(['erased', 'test']);
  });

  slow('is refused whatever arrives under one of the names', async () => {
    const { world, store, config, erase, context } = await small();
    const { key: owner } = await createKey(store, { orgId: ORG, role: 'owner', userId: 'root' }, world.now);
    const { key: own } = await createKey(
      store,
      { orgId: ORG, role: 'member', userId: NAMES.alias },
      world.now,
    );
    const app = buildApp(world);
    onTestFinished(() => app.close());
    const ask = async (
      url: string,
      payload?: object | string,
      { key = owner, type = 'application/json' } = {},
    ) => {
      const headers = {
        authorization: `Bearer ${key}`,
        ...(payload === undefined ? {} : { 'content-type': type }),
      };
      const { statusCode: status, body } = await app.inject({
        ...{ method: payload === undefined ? 'GET' : 'POST', url, headers },
        ...(payload === undefined ? {} : { payload }),
      });
      return { status, body };
    };
    const names = [NAMES.user, NAMES.alias, NAMES.email];
    const sent = names.map((user_id, place) => event(`n${place}`, { user_id }));
    const mine = event('m', { user_id: 'grace' });
    const byEmail = event('e', { user_id: 'linus', user_email: NAMES.email });
    expect(JSON.parse((await ask('/api/v1/events', [...sent, mine])).body).accepted).toBe(4);
    // Acknowledged before the erasure, so they count.
    await erase();
    const early = await store.select(
      "SELECT DISTINCT user_id FROM events WHERE event_id IN ('n0', 'n1', 'n2')",
    );
    expect(early.map(({ user_id }) => String(user_id).startsWith('erased-'))).toEqual([true, true, true]);
    // In files, and over HTTP: judged before the erasure, and acknowledged after it.
    await world.send([event('r1', { user_id: NAMES.user }), event('r2', { user_id: NAMES.sub })], {
      orgId: ORG,
    });
    const late = [event('r3', { user_id: NAMES.alias }), event('r4', { user_email: NAMES.email })];
    await world.inbox.receive(Readable.from([Buffer.from(lines(late))]), {
      ...{
        requestId: 'req_1',
        orgId: ORG,
        onlyUsers: null,
        encoding: 'identity',
        isArray: false,
        keepsText: true,
      },
      gone: new AbortController().signal,
    });
    await context.settle();
    expect(await store.select("SELECT event_id FROM events WHERE event_id LIKE 'r%'")).toEqual([]);
    expect(await store.select("SELECT reason, line FROM rejects WHERE reason = 'erased_person'")).toEqual(
      Array.from({ length: 4 }, () => ({ reason: 'erased_person', line: null })),
    );

    const answer = await ask('/api/v1/events', [
      ...sent,
      mine,
      byEmail,
      { ...mine, nobody: NAMES.user, type: 'x' },
    ]);
    const { accepted, errors } = JSON.parse(answer.body);
    expect([accepted, errors.map(({ code }: { code: string }) => code)]).toEqual([
      1,
      [...names.map(() => 'erased_person'), 'erased_person', 'unknown_type'],
    ]);
    const hook = { hook_event_name: 'UserPromptSubmit', session_id: 's', user_id: NAMES.user };
    const hooked = await ask('/api/v1/hooks', hook);
    const telemetry = await ask('/otlp/v1/logs', {
      resourceLogs: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'claude-code' } }] },
          scopeLogs: [
            {
              scope: { name: 'com.anthropic.claude_code.events' },
              logRecords: [
                {
                  timeUnixNano: `${world.now}000000`,
                  body: { stringValue: 'claude_code.user_prompt' },
                  attributes: Object.entries({
                    ...{ 'event.name': 'user_prompt', 'session.id': 's9', 'user.id': 'i' },
                    ...{ 'user.email': NAMES.email, 'event.timestamp': new Date(world.now).toISOString() },
                  }).map(([key, value]) => ({ key, value: { stringValue: value } })),
                },
              ],
            },
          ],
        },
      ],
    });
    const withOwn = await ask('/api/v1/analytics/users?date=2026-06-02', undefined, { key: own });
    expect([hooked.status, withOwn.status]).toEqual([403, 401]);
    expect(telemetry.body).toContain('erased');
    const asked = await ask(
      `/api/v1/analytics/users?startDate=2026-06-01&endDate=2026-06-02&user_id=${NAMES.user}`,
    );
    expect(asked.status).toBe(200);

    // Files: of the person, of anybody with lines of the person, and in a folder of the person.
    const file = join(world.folder, NAMES.user);
    mkdirSync(file);
    writeFileSync(
      join(file, 'a.ndjson'),
      [event('f1', { user_id: NAMES.sub }), event('f2', { user_id: 'grace' }), `{"user_id":"${NAMES.user}`]
        .map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
        .join('\n'),
    );
    const read = await ingest(
      store,
      { orgId: ORG, source: CANONICAL, files: inputFiles([file], CANONICAL) },
      world.clock,
    );
    expect([read.accepted, read.byReason]).toEqual([1, { erased_person: 1, not_json: 1 }]);
    for (const refused of [
      () => ingest(store, { orgId: ORG, source: CODEX, userId: NAMES.alias, files: [] }, world.clock),
      () => createKey(store, { orgId: ORG, role: 'member', userId: NAMES.email }, world.now),
      () => importing(store, `user_id,alias\nlinus,${NAMES.sub}\n`),
    ])
      await expect(refused()).rejects.toThrow('a person who was erased');
    await expect(erase()).rejects.toThrow('was erased from acme already');
    // Another organization has another secret.
    await createKey(
      store,
      { orgId: 'other', role: 'member', userId: NAMES.email.replace('zqx', 'xyz') },
      world.now,
    );
    await context.settle();
    await app.close();
    expect(await traces(config.data)).toEqual({});
  });
});
