import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  CLAUDE_CODE,
  CLINE,
  CODEX,
  COPILOT_CHAT,
  COPILOT_CLI,
  DROID,
  GEMINI_CLI,
  KILO,
  OPENCLAW,
  OPENCODE,
  PI,
  QWEN_CODE,
  type Source,
  VS_COPILOT,
} from '../src/ingest/source.js';
import { DAY_TABLES } from '../src/store/catalog.js';
import { csvLine } from '../src/terminal/csv-line.js';
import { AGENTS } from './agent-cases.js';
import { foldersIn } from './cases.js';
import { countsIn, countsOf, EVENT, readTruth, sampleFolders, type Truth, testSamples } from './samples.js';
import { World } from './world.js';

async function worldOf(source: Source) {
  const world = await World.create();
  // Every day of the samples is over.
  world.now = Date.parse('2027-01-01T12:00:00Z');
  const read = (orgId: string, paths: readonly string[]) =>
    world.ingest(paths, { orgId, source, userId: 'ada' });
  const rowsOf = (orgId: string, columns: string, where = 'true') =>
    world.store.select(`SELECT ${columns} FROM events WHERE org_id = $org_id AND ${where} ORDER BY ALL`, {
      org_id: orgId,
    });
  return { world, read, rowsOf };
}

/** How many events of each kind a day has, and their tokens. */
const COUNTS = `
  CAST(day AS VARCHAR) AS day, type,
  coalesce(model, operation, CASE WHEN success THEN 'succeeded' WHEN NOT success THEN 'failed' END) AS kind,
  count(*) AS events,
  CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
  CAST(sum(cache_read_tokens) AS BIGINT) AS cache_read_tokens,
  CAST(sum(output_tokens) AS BIGINT) AS output_tokens`;

/** The file transcripts.csv of a source in test/agents has what they must give; it is written where it is missing, but never in CI. */
describe('the transcripts of public projects', () => {
  for (const [source, path] of [
    [CODEX, 'transcripts/codex'],
    [DROID, 'transcripts/factory-droid'],
    [GEMINI_CLI, 'transcripts/gemini-cli'],
    [OPENCODE, 'transcripts/opencode'],
  ] as const)
    testSamples(path, `in ${path} have the numbers that are known of them, in any order`, async (folder) => {
      const { world, read, rowsOf } = await worldOf(source);
      const { byReason } = await read('once', [folder]);
      const rejects = Object.entries(byReason).map(([reason, lines]) => ['', 'rejected', reason, lines]);
      const counts = await world.store.select(
        `SELECT ${COUNTS} FROM counted_events WHERE org_id = 'once' GROUP BY ALL ORDER BY ALL`,
      );
      const csv = [Object.keys(counts[0] ?? {}), ...counts.map((row) => Object.values(row)), ...rejects]
        .map(csvLine)
        .join('');
      await expect(csv.replaceAll('\r', '')).toMatchFileSnapshot(
        join(AGENTS, source.name, 'transcripts.csv'),
      );
      const projects = foldersIn(folder).map((name) => join(folder, name));
      for (const project of projects.toReversed()) await read('backwards', [project]);
      expect(await read('backwards', projects)).toMatchObject({ accepted: 0 });
      expect(await rowsOf('backwards', EVENT)).toEqual(await rowsOf('once', EVENT));
    });

  testSamples(
    'transcripts/claude-code',
    'give the same day tables once, twice, and backwards',
    async (folder) => {
      const files = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
        .map((entry) => join(entry.parentPath, entry.name))
        .sort();
      const tablesOf = async ({ store }: World) => {
        const rows: Record<string, unknown> = {};
        for (const table of ['user_sessions', ...DAY_TABLES])
          rows[table] = await store.select(`SELECT * FROM ${table} ORDER BY ALL`);
        return rows;
      };
      const whole = await worldOf(CLAUDE_CODE);
      await whole.read('acme', files);
      await whole.world.build();
      const once = await tablesOf(whole.world);
      await whole.read('acme', files);
      expect(await whole.world.build()).toEqual([]);
      const backwards = await worldOf(CLAUDE_CODE);
      // In four parts, the last first; a session's own files stay together.
      const parts = [0, 1, 2, 3].map((part) =>
        files.filter((_, index) => Math.floor((index * 4) / files.length) === part),
      );
      for (const part of parts.reverse()) await backwards.read('acme', part.toReversed());
      await backwards.world.build();
      expect(await tablesOf(backwards.world)).toEqual(once);
    },
  );

  testSamples(
    'transcripts/claude-code',
    'that have grown count as the last of their states',
    async (folder) => {
      const { read, rowsOf } = await worldOf(CLAUDE_CODE);
      const growing = sampleFolders('transcripts/claude-code').map((project) => join(project, 'growing'));
      const sessions = growing
        .filter(existsSync)
        .flatMap((one) => foldersIn(one).map((name) => join(one, name)));
      expect(sessions.length, folder).toBeGreaterThan(0);
      for (const [index, session] of sessions.entries()) {
        const states = readdirSync(session)
          .sort()
          .map((state) => join(session, state));
        await read(`last-${index}`, states.slice(-1));
        for (const state of states) await read(`step-${index}`, [state]);
        expect(await rowsOf(`step-${index}`, EVENT)).toEqual(await rowsOf(`last-${index}`, EVENT));
      }
    },
  );
});

/** The usage of an organization: calls, input outside of the cache, input from it, and output. */
const USAGE = `count(*) AS calls, CAST(sum(input_tokens + coalesce(cache_write_tokens, 0)) AS BIGINT) AS input,
  CAST(sum(cache_read_tokens) AS BIGINT) AS cached, CAST(sum(output_tokens) AS BIGINT) AS output`;

describe('recorded sessions give what happened', () => {
  for (const source of [CLINE, CODEX, COPILOT_CLI, GEMINI_CLI, QWEN_CODE])
    testSamples(`captures/${source.name}`, source.name, async () => {
      const { world, read, rowsOf } = await worldOf(source);
      for (const folder of sampleFolders(`captures/${source.name}`)) {
        const truth = readTruth(folder);
        const orgId = basename(folder);
        expect(await read(orgId, [join(folder, 'logs')]), orgId).toMatchObject({ byReason: {} });
        await read(orgId, [join(folder, 'logs')]);
        // The recording of a fork of Codex has its parent too, which is a recording of its own.
        const session = source === CODEX && orgId === 'fork' ? String(truth.ids.thread) : '%';
        const rows = (columns: string, type: string) =>
          rowsOf(orgId, columns, `type = '${type}' AND session_id LIKE '${session}'`);

        const { all, auxiliary } = truth.totals;
        // Calls for a title and the like aren't in the files of Codex.
        const less = source === CODEX ? auxiliary : undefined;
        const outside = truth.reasoning_tokens_are.startsWith('outside') ? all.reasoning : 0;
        expect(await rows(USAGE, 'model_usage'), orgId).toEqual([
          {
            calls: all.calls - (less?.calls ?? 0),
            input: all.input_uncached - (less?.input_uncached ?? 0),
            cached: all.cached - (less?.cached ?? 0),
            output: all.output + outside - (less?.output ?? 0),
          },
        ]);
        const { replies, ...counts } = countsIn(truth);
        expect(await countsOf(world, orgId, session), orgId).toMatchObject(
          source === CODEX ? counts : { replies, ...counts },
        );

        // Codex has ids of its own for what a script calls. Qwen Code has the server only in the name of a tool.
        const lineOf = (id: unknown, name: unknown, server: unknown, success: unknown) =>
          [
            source === CODEX ? '' : String(id).split(/:|__/).at(-1),
            String(name).replace(/^(mcp__tiny__|tiny-)/, ''),
            source === QWEN_CODE ? '' : server,
            success,
          ].join();
        const called = await rows('event_id, tool_name, mcp_server, success', 'tool_call');
        expect(
          called.map((one) => lineOf(one.event_id, one.tool_name, one.mcp_server, one.success)).sort(),
          orgId,
        ).toEqual(
          truth.tool_calls
            .map((one) => lineOf(one.id_sent_by_stub, one.name, one.mcp_server, one.success))
            .sort(),
        );

        const commits = (await rows('commit_sha', 'git_commit')).flatMap(
          ({ commit_sha }) => commit_sha ?? [],
        );
        for (const sha of commits)
          expect(
            truth.commits.map((commit) => commit.sha.slice(0, String(sha).length)),
            orgId,
          ).toContain(sha);
        if (source === QWEN_CODE) {
          const requests = (await rows('request_id', 'model_usage')).map(({ request_id }) => request_id);
          expect(requests).toEqual(truth.model_calls.map(({ response_id }) => response_id).sort());
        }
      }
    });

  for (const [source, agent] of [
    [PI, 'pi'],
    [PI, 'omp'],
    [OPENCLAW, 'openclaw'],
  ] as const)
    testSamples(`captures/${agent}`, agent, async () => {
      const { world, read, rowsOf } = await worldOf(source);
      for (const folder of sampleFolders(`captures/${agent}`)) {
        const orgId = basename(folder);
        const { totals, ...truth } = JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8'));
        expect(await read(orgId, [join(folder, 'logs')]), orgId).toMatchObject({ byReason: {} });
        await read(orgId, [join(folder, 'logs')]);
        const { calls, input_uncached, cached, output } = totals.all;
        expect(await rowsOf(orgId, USAGE, "type = 'model_usage'"), orgId).toEqual([
          { calls, input: input_uncached, cached, output },
        ]);
        const failed = truth.tool_calls.filter(({ success }: { success: boolean }) => !success);
        expect(await countsOf(world, orgId), orgId).toMatchObject({
          turns: truth.person_turns.length,
          // The program asks for itself what the logs have, but not as answers.
          replies: calls - (totals.logs_also?.calls ?? 0),
          tool_calls: truth.tool_calls.length,
          failed_tool_calls: failed.length,
          files_created: truth.files_created.length,
          files_edited: truth.files_edited.length,
          commits: truth.commits.length,
        });
      }
    });

  testSamples('transcripts/vscode-copilot', 'chats of Copilot in VS Code', async (folder) => {
    const { world, read, rowsOf } = await worldOf(COPILOT_CHAT);
    // Another project's reader says what each request of this chat has.
    const expected = JSON.parse(readFileSync(join(folder, 'vscode_chat_0_47_0.expected.json'), 'utf8'));
    const answered = expected.filter(({ role }: { role: string }) => role === 'assistant');
    const usage = "replace(event_id, 'usage:', '') AS request, output_tokens";
    const chat = join(folder, 'vscode_chat_0_47_0.jsonl');
    const later = join(folder, 'vscode_chat_0_47_0_streaming.jsonl');
    for (const [orgId, paths] of Object.entries({ once: [chat], grown: [later, chat] })) {
      for (const path of paths) expect(await read(orgId, [path])).toMatchObject({ byReason: {} });
      expect(await rowsOf(orgId, usage, "type = 'model_usage'")).toEqual(
        answered
          .map((row: { requestId: string; output_tokens: number }) => ({
            request: row.requestId,
            output_tokens: row.output_tokens,
          }))
          .sort((one: { request: string }, other: { request: string }) =>
            one.request < other.request ? -1 : 1,
          ),
      );
      // Counted in the file: nine requests, one with two calls, of which one edits a file.
      expect(await countsOf(world, orgId)).toMatchObject({
        turns: 9,
        replies: 8,
        tool_calls: 2,
        files_edited: 1,
      });
    }
    await read('tokens', [join(folder, 'vscode_chat_0_47_0_v5.jsonl')]);
    expect(await rowsOf('tokens', `${USAGE}, any_value(model) AS model`, "type = 'model_usage'")).toEqual([
      { calls: 1, input: 26_412, cached: null, output: 191, model: 'claude-haiku-4-5-20251001' },
    ]);
  });

  testSamples('otlp/visualstudio-copilot', 'traces of Copilot in Visual Studio', async (folder) => {
    const { world, read, rowsOf } = await worldOf(VS_COPILOT);
    const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
    const spans = files.flatMap((name) => [
      ...readFileSync(join(folder, name), 'utf8').matchAll(
        /"name":\s*"(invoke_agent|execute_tool) ([^"]+)"/g,
      ),
    ]);
    const toolsIn = spans.flatMap(([, operation, tool]) => (operation === 'execute_tool' ? [tool] : []));
    expect(toolsIn).toHaveLength(6);
    await read('once', [folder]);
    for (const name of files.toReversed()) await read('backwards', [join(folder, name)]);
    for (const orgId of ['once', 'backwards']) {
      expect(await countsOf(world, orgId)).toMatchObject({
        turns: spans.length - toolsIn.length,
        tool_calls: toolsIn.length,
        failed_tool_calls: 0,
      });
      const tools = await rowsOf(orgId, 'tool_name', "type = 'tool_call'");
      expect(tools.map(({ tool_name }) => tool_name)).toEqual(toolsIn.sort());
    }
  });

  testSamples('transcripts/pi', 'a session of the first version of Pi', async (folder) => {
    const { read, rowsOf } = await worldOf(PI);
    await read('first', [join(folder, 'large-session.jsonl.gz')]);
    // Counted line by line, without the mapping.
    expect(await rowsOf('first', USAGE, "type = 'model_usage'")).toEqual([
      { calls: 439, input: 1049 + 4_296_232, cached: 43_229_469, output: 83_156 },
    ]);
  });

  testSamples('captures/kilo', 'kilo', async () => {
    const { world, read, rowsOf } = await worldOf(KILO);
    for (const folder of sampleFolders('captures/kilo')) {
      const orgId = basename(folder);
      const truth = readTruth(folder);
      expect(await read(orgId, [join(folder, 'logs')]), orgId).toMatchObject({ byReason: {} });
      await read(orgId, [join(folder, 'logs')]);
      // Calls for a title aren't in the sessions.
      const { calls, input_uncached, cached, output } = truth.totals.main;
      expect(await rowsOf(orgId, USAGE, "type = 'model_usage'"), orgId).toEqual([
        { calls, input: input_uncached, cached, output },
      ]);
      expect(await countsOf(world, orgId), orgId).toEqual({ ...countsIn(truth), replies: calls });
      // The fork has copies of what the first session did, which keeps it.
      expect(
        await rowsOf(orgId, 'agent, session_id, count(*) AS turns', "type = 'user_message' GROUP BY ALL"),
      ).toEqual([
        { agent: 'kilo', session_id: 'ses_de41e9fa9ffepWQX3sgyj2wjhf', turns: 1 },
        { agent: 'kilo', session_id: 'ses_de41ecd4dffeMo3b1HCruOCAjx', turns: 1 },
        { agent: 'kilo', session_id: 'ses_de41f24acffeZrV29Rad6jce4j', turns: 2 },
      ]);
    }
  });

  testSamples('captures/opencode', 'opencode', async (folder) => {
    const { world, read, rowsOf } = await worldOf(OPENCODE);
    const truths = ['edit-commit', 'fork', 'otel'].map((name) => readTruth(join(folder, name)));
    const exports = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.json') && path.includes('export'))
      // The first run of the recording otel isn't in its truth.
      .filter((path) => !path.endsWith('ses_dfaeb2d80ffejjp32F1E64ozEl.json'));
    await read(
      'exports',
      exports.map((path) => join(folder, path)),
    );
    // Calls for a title aren't in the sessions.
    const sumOf = (of: (truth: Truth) => Record<string, number>) => {
      const sum: Record<string, number> = {};
      for (const truth of truths)
        for (const [name, count] of Object.entries(of(truth))) sum[name] = (sum[name] ?? 0) + count;
      return sum;
    };
    const usage = sumOf(({ totals: { main } }) => ({
      calls: main.calls,
      input: main.input_uncached,
      cached: main.cached,
      output: main.output,
    }));
    expect(await rowsOf('exports', USAGE, "type = 'model_usage'")).toEqual([usage]);
    const counts = sumOf((truth) => ({ ...countsIn(truth), replies: truth.totals.main.calls }));
    expect(await countsOf(world, 'exports')).toEqual(counts);
    // The database has these sessions and two others.
    await read('database', [join(folder, 'db')]);
    const inDatabase = await rowsOf('database', EVENT);
    expect(inDatabase).toEqual(expect.arrayContaining(await rowsOf('exports', EVENT)));
  });
});
