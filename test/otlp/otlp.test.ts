import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { create, fromBinary, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { describe, expect, test } from 'vitest';
import { createKey } from '../../src/api/api-keys.js';
import { InboxFull } from '../../src/ingest/inbox.js';
import { OTLP } from '../../src/ingest/source.js';
import { BodyMemory } from '../../src/otlp/body-memory.js';
import {
  ExportLogsServiceRequestSchema,
  ExportLogsServiceResponseSchema,
} from '../../src/otlp/proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import { ExportTraceServiceRequestSchema } from '../../src/otlp/proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { SIGNALS } from '../../src/otlp/telemetry.js';
import { NOW } from '../world.js';
import { type Attributes, logs, metrics, Receiver, spans } from './sender.js';

const AT = '2026-06-10T10:00:00.250Z';
const NANOS = `${BigInt(Date.parse(AT)) * 1_000_000n}`;
const SECRET = 'words that nobody keeps';
const PROTOBUF = { 'content-type': 'application/x-protobuf' };

const CLAUDE = { 'service.name': 'claude-code', 'service.version': '2.1.175' };
const session = { 'session.id': 's-1', 'user.email': 'Ada@Acme.example', 'event.timestamp': AT };

/** A record of Claude Code. */
const claude = (name: string, attributes: Attributes): { attributes: Attributes; body: string } => ({
  attributes: { ...session, 'event.name': name, ...attributes },
  body: `claude_code.${name}`,
});

/** Records, and what comes of them: the members that matter. */
const MAPPED: [string, Attributes, { attributes: Attributes; body: string }[], object[]][] = [
  [
    'a prompt',
    CLAUDE,
    [claude('user_prompt', { 'prompt.id': 'p-1', prompt: SECRET, prompt_length: 23 })],
    [{ type: 'user_message', event_id: 'turn:otlp:p-1', user_id: 'ada@acme.example', channel: 'otlp_log' }],
  ],
  [
    'prompts of one turn, of which the second was queued, and two that older versions queued',
    CLAUDE,
    [
      claude('user_prompt', { 'prompt.id': 'p-1', 'message.uuid': 'u-1' }),
      claude('user_prompt', { 'prompt.id': 'p-1', 'message.uuid': 'u-2', 'delivery.mode': 'mid_turn' }),
      claude('user_prompt', { 'prompt.id': 'p-2', 'delivery.mode': 'mid_turn', 'event.sequence': 8 }),
      claude('user_prompt', { 'prompt.id': 'p-2', 'delivery.mode': 'mid_turn', 'event.sequence': 9 }),
    ],
    [
      { event_id: expect.stringMatching(/^turn:otlp:[0-9a-f]{32}$/) },
      { event_id: expect.stringMatching(/^turn:otlp:[0-9a-f]{32}$/) },
      { event_id: 'turn:u-1' },
      { event_id: 'turn:u-2' },
    ],
  ],
  [
    'slash commands, and the one that ends a session, of which newer versions have no transcript',
    CLAUDE,
    [
      claude('user_prompt', { 'prompt.id': 'p-1', command_name: 'review' }),
      claude('user_prompt', { 'prompt.id': 'p-2', command_name: 'exit', command_source: 'builtin' }),
      claude('user_prompt', { 'prompt.id': 'p-3', command_name: 'exit', command_source: 'custom' }),
      claude('user_prompt', { 'prompt.id': 'p-4', command_name: 'exit' }),
    ],
    [
      { type: 'slash_command', event_id: 'slash:otlp:p-1', command_name: 'review' },
      { type: 'slash_command', event_id: 'slash:otlp:p-3', command_name: 'exit' },
      { type: 'slash_command', event_id: 'slash:otlp:p-4', command_name: 'exit' },
      { type: 'user_message', event_id: 'turn:otlp:p-1' },
      { type: 'user_message', event_id: 'turn:otlp:p-3' },
      { type: 'user_message', event_id: 'turn:otlp:p-4' },
    ],
  ],
  [
    'skills, of which one has no name without details; a command is none',
    CLAUDE,
    [
      claude('skill_activated', { 'skill.name': 'release', invocation_trigger: 'claude-proactive' }),
      claude('tool_result', {
        ...{ tool_use_id: 't-1', tool_name: 'Skill', success: 'true' },
        tool_parameters: JSON.stringify({ skill_name: 'release' }),
      }),
      claude('tool_result', { tool_use_id: 't-2', tool_name: 'Skill', success: 'true' }),
      claude('skill_activated', { 'skill.name': 'shout', invocation_trigger: 'user-slash' }),
    ],
    [
      { type: 'skill_use', event_id: 'skill:t-1', skill_name: 'release' },
      { type: 'skill_use', event_id: 'skill:t-2', skill_name: 'custom_skill' },
      { type: 'tool_call', event_id: 'tool:t-1' },
      { type: 'tool_call', event_id: 'tool:t-2' },
    ],
  ],
  [
    'files: one that the session has read or written before is edited',
    CLAUDE,
    [
      ...(
        [
          ['t-1', 'Read', 'old.ts', 'true', 1],
          ['t-2', 'Write', 'old.ts', 'true', 2],
          ['t-3', 'Read', 'new.ts', 'false', 3],
          ['t-4', 'Write', 'new.ts', 'true', 4],
          ['t-5', 'Write', 'new.ts', 'true', 5],
        ] as const
      ).map(([tool_use_id, tool_name, file, success, second]) =>
        claude('tool_result', {
          ...{ tool_use_id, tool_name, success, 'event.timestamp': `2026-06-10T10:00:0${second}Z` },
          tool_input: JSON.stringify({ file_path: `/p/${file}`, content: SECRET }),
        }),
      ),
      claude('tool_result', {
        ...{ tool_use_id: 't-6', tool_name: 'Write', success: 'true', 'session.id': 's-2' },
        ...{ 'event.timestamp': '2026-06-10T10:00:06Z' },
        tool_input: JSON.stringify({ file_path: '/p/old.ts' }),
      }),
    ],
    [
      { event_id: 'tool:t-1' },
      { event_id: 'file:t-2', path: '/p/old.ts', operation: 'edit' },
      { event_id: 'tool:t-2' },
      { event_id: 'tool:t-3' },
      { event_id: 'file:t-4', path: '/p/new.ts', operation: 'create' },
      { event_id: 'tool:t-4' },
      { event_id: 'file:t-5', operation: 'edit' },
      { event_id: 'tool:t-5' },
      { event_id: 'file:t-6', session_id: 's-2', operation: 'create' },
      { event_id: 'tool:t-6' },
    ],
  ],
  [
    'a call of the model, whose counters are texts or numbers',
    CLAUDE,
    [
      claude('api_request', {
        ...{ model: 'claude-opus-4-6', request_id: 'req_1', input_tokens: '3', output_tokens: 108 },
        ...{ cache_read_tokens: 20_000, cache_creation_tokens: '400' },
      }),
    ],
    [
      { type: 'assistant_message', event_id: 'message:otlp:req_1' },
      {
        ...{
          type: 'model_usage',
          event_id: 'usage:otlp:req_1',
          request_id: 'req_1',
          model: 'claude-opus-4-6',
        },
        ...{ input_tokens: 3, output_tokens: 108, cache_read_tokens: 20_000, cache_write_tokens: 400 },
        // How long they live nobody said.
        cache_write_1h_tokens: null,
      },
    ],
  ],
  [
    'how a call was made, what it is said to cost, and for whom and where',
    {
      ...CLAUDE,
      ...{ 'team.id': 'platform', department: 'engineering', cost_center: 'eng-123' },
      ...{ 'vcs.repository.url.full': 'https://ada:secret@github.com/acme/web', 'vcs.owner.name': 'acme' },
      ...{ 'vcs.ref.head.name': 'main', 'vcs.ref.head.revision': 'abc1234' },
    },
    [
      claude('api_request', {
        ...{ model: 'claude-opus-5', request_id: 'req_1', input_tokens: 3, output_tokens: 1 },
        ...{ cache_creation_tokens: 400, cache_creation_1h_tokens: 300, speed: 'fast', effort: 'high' },
        ...{ cost_usd: 0.0175385, agent_id: 'a1', parent_agent_id: 'a0', query_source: 'auxiliary' },
      }),
      claude('api_request', {
        ...{ model: 'claude-opus-5', request_id: 'req_2', input_tokens: 3, output_tokens: 1 },
        ...{ speed: 'no word', cost_usd: 'free', query_source: 'auxiliary' },
      }),
    ],
    [
      {
        ...{ event_id: 'usage:otlp:req_1', cache_write_tokens: 400, cache_write_1h_tokens: 300 },
        ...{
          speed: 'fast',
          effort: 'high',
          reported_cost_usd: 0.0175385,
          agent_id: 'a1',
          parent_agent_id: 'a0',
        },
        ...{ team: 'platform', department: 'engineering', cost_center: 'eng-123' },
        ...{
          repo: 'https://github.com/acme/web',
          repo_owner: 'acme',
          git_branch: 'main',
          head_commit: 'abc1234',
        },
      },
      { event_id: 'usage:otlp:req_2', speed: null, reported_cost_usd: null },
    ],
  ],
  [
    'calls for a title and a name, and one of a sub-agent',
    CLAUDE,
    [
      claude('api_request', {
        model: 'claude-haiku-4-5',
        input_tokens: 3,
        output_tokens: 1,
        query_source: 'auxiliary',
      }),
      ...['rename_generate_name', 'agent:builtin:general-purpose'].map((query_source) =>
        claude('api_request', {
          ...{ request_id: query_source, model: 'claude-opus-5', input_tokens: 3, output_tokens: 1 },
          query_source,
        }),
      ),
    ],
    [
      { type: 'assistant_message', event_id: 'message:otlp:agent:builtin:general-purpose' },
      { type: 'model_usage', model: 'claude-haiku-4-5' },
      { type: 'model_usage', event_id: 'usage:otlp:agent:builtin:general-purpose' },
      { type: 'model_usage', event_id: 'usage:otlp:rename_generate_name' },
    ],
  ],
  [
    'calls of which nothing names the model',
    CLAUDE,
    [
      claude('api_request', {
        request_id: 'r1',
        input_tokens: 3,
        output_tokens: 1,
        query_source: 'auxiliary',
      }),
      claude('api_request', {
        ...{ request_id: 'r2', model: '', input_tokens: 4, output_tokens: 1, query_source: 'auxiliary' },
      }),
    ],
    [
      { type: 'model_usage', model: 'unknown', input_tokens: 3 },
      { type: 'model_usage', model: 'unknown', input_tokens: 4 },
    ],
  ],
  [
    'tools, of which one was rejected and one is of a server that nothing names',
    CLAUDE,
    [
      claude('tool_result', {
        tool_use_id: 't-1',
        tool_name: 'Bash',
        success: 'false',
        duration_ms: 25.5,
        error: SECRET,
      }),
      claude('tool_decision', { tool_use_id: 't-2', tool_name: 'Edit', decision: 'reject' }),
      claude('tool_decision', { tool_use_id: 't-3', tool_name: 'Edit', decision: 'accept' }),
      claude('tool_result', { tool_use_id: 't-4', tool_name: 'mcp_tool', success: 'true' }),
    ],
    [
      { type: 'tool_call', event_id: 'tool:t-1', tool_name: 'Bash', success: false, duration_ms: 25 },
      { type: 'tool_call', event_id: 'tool:t-2', tool_name: 'Edit', success: false, mcp_server: null },
      { type: 'tool_call', event_id: 'tool:t-4', tool_name: 'mcp_tool', mcp_server: 'unknown' },
    ],
  ],
  [
    'details of tools',
    CLAUDE,
    [
      claude('tool_result', {
        ...{ tool_use_id: 't-1', tool_name: 'mcp_tool', success: 'true' },
        tool_parameters: JSON.stringify({ mcp_server_name: 'github', mcp_tool_name: 'search', note: SECRET }),
      }),
      claude('tool_result', {
        ...{ tool_use_id: 't-2', tool_name: 'Write', success: 'true' },
        tool_input: JSON.stringify({ file_path: '/p/a.ts', content: SECRET }),
      }),
      claude('tool_result', {
        ...{ tool_use_id: 't-3', tool_name: 'Bash', success: 'true' },
        tool_parameters: JSON.stringify({ git_commit_id: '1a2b3c4', full_command: SECRET }),
      }),
    ],
    [
      { event_id: 'commit:t-3', commit_sha: '1a2b3c4' },
      { event_id: 'file:t-2', path: '/p/a.ts', operation: 'create' },
      { event_id: 'tool:t-1', tool_name: 'mcp__github__search', mcp_server: 'github' },
      { event_id: 'tool:t-2' },
      { event_id: 'tool:t-3' },
    ],
  ],
  [
    'details of tools that commit and open pull requests',
    CLAUDE,
    [
      ...[
        `git commit -q -m "${SECRET}" && gh pr create --body "${SECRET}"`,
        `git commit -m "${SECRET}" | tail`,
        'gh pr create --dry-run',
      ].map((full_command, place) =>
        claude('tool_result', {
          ...{ tool_use_id: `t-${place}`, tool_name: 'Bash', success: 'true' },
          tool_parameters: JSON.stringify({ full_command }),
        }),
      ),
      ...['true', 'false'].map((success) =>
        claude('tool_result', {
          ...{ tool_use_id: `m-${success}`, tool_name: 'mcp_tool', success },
          tool_parameters: JSON.stringify({
            mcp_server_name: 'gitlab',
            mcp_tool_name: 'create_merge_request',
          }),
        }),
      ),
    ],
    [
      { event_id: 'commit:t-0', type: 'git_commit' },
      { event_id: 'pull_request:m-true', type: 'pull_request' },
      { event_id: 'pull_request:t-0', type: 'pull_request' },
      { event_id: 'tool:m-false' },
      { event_id: 'tool:m-true' },
      { event_id: 'tool:t-0' },
      { event_id: 'tool:t-1' },
      { event_id: 'tool:t-2' },
    ],
  ],
  [
    'a mode that holds from then on',
    CLAUDE,
    [
      claude('user_prompt', { 'prompt.id': 'p-1' }),
      claude('permission_mode_changed', {
        ...{ from_mode: 'default', to_mode: 'acceptEdits', 'event.timestamp': '2026-06-10T10:00:00.251Z' },
      }),
      claude('user_prompt', { 'prompt.id': 'p-2', 'event.timestamp': '2026-06-10T10:00:01Z' }),
    ],
    [
      { event_id: 'turn:otlp:p-1', autonomy_mode: 'manual' },
      { event_id: 'turn:otlp:p-2', autonomy_mode: 'auto-low' },
    ],
  ],
  [
    'the mode in which a call was decided on, which holds for the session if its main agent called',
    CLAUDE,
    [
      claude('permission_mode_changed', { from_mode: 'default', to_mode: 'plan' }),
      ...(
        [
          ['t-1', 'bypassPermissions', 'accept', 'a1'],
          ['t-2', 'acceptEdits', 'accept', ''],
          ['t-3', 'plan', 'reject', 'a1'],
        ] as const
      ).map(([tool_use_id, permission_mode, decision, agent_id], second) =>
        claude('tool_decision', {
          ...{ tool_use_id, tool_name: 'Write', permission_mode, decision },
          ...{ 'event.timestamp': `2026-06-10T10:00:1${second}Z`, ...(agent_id === '' ? {} : { agent_id }) },
        }),
      ),
      ...['t-1', 't-2', 't-4'].map((tool_use_id, second) =>
        claude('tool_result', {
          ...{ tool_use_id, tool_name: 'Write', success: 'true' },
          ...{ 'event.timestamp': `2026-06-10T10:00:2${second}Z` },
          tool_input: JSON.stringify({ file_path: `/p/${tool_use_id}.ts` }),
        }),
      ),
      ...['10', '30'].map((second) =>
        claude('user_prompt', {
          ...{ 'prompt.id': `p-${second}`, 'event.timestamp': `2026-06-10T10:00:${second}Z` },
        }),
      ),
    ],
    [
      { event_id: 'turn:otlp:p-10', autonomy_mode: 'spec' },
      { event_id: 'tool:t-3', autonomy_mode: 'spec', is_stopped: true },
      { event_id: 'file:t-1', autonomy_mode: 'auto-high' },
      { event_id: 'tool:t-1', autonomy_mode: 'auto-high' },
      { event_id: 'file:t-2', autonomy_mode: 'auto-low' },
      { event_id: 'tool:t-2', autonomy_mode: 'auto-low' },
      { event_id: 'file:t-4', autonomy_mode: 'auto-low' },
      { event_id: 'tool:t-4', autonomy_mode: 'auto-low' },
      { event_id: 'turn:otlp:p-30', autonomy_mode: 'auto-low' },
    ],
  ],
  [
    'who serves a call, on which plan, and how long what it wrote to the cache lives',
    { ...CLAUDE, 'anthropic.provider': 'firstParty', 'anthropic.plan': 'Team' },
    [
      ...[{ cache_creation_1h_tokens: 300 }, { cache_creation_5m_tokens: 100 }, {}].map((split, place) =>
        claude('api_request', {
          ...{ model: 'claude-opus-5', request_id: `req_${place}`, input_tokens: 3, output_tokens: 1 },
          ...{ cache_creation_tokens: 400, query_source: 'auxiliary', ...split },
        }),
      ),
      claude('api_request', {
        ...{ model: 'claude-opus-5', request_id: 'req_3', input_tokens: 3, output_tokens: 1 },
        ...{ query_source: 'auxiliary', 'anthropic.provider': 'bedrock', 'anthropic.plan': '' },
      }),
    ],
    [
      ...[300, 300, null].map((cache_write_1h_tokens, place) => ({
        ...{ event_id: `usage:otlp:req_${place}`, cache_write_tokens: 400, cache_write_1h_tokens },
        ...{ provider: 'anthropic', plan: 'team' },
      })),
      { event_id: 'usage:otlp:req_3', provider: 'bedrock', plan: null },
    ],
  ],
  [
    'transcripts that were deleted, unless there were none',
    CLAUDE,
    [
      claude('retention_sweep', { transcripts_deleted: '12', period_days: '30' }),
      claude('retention_sweep', { transcripts_deleted: 0, period_days: 30 }),
    ],
    [{ type: 'retention_sweep', transcripts_deleted: 12, period_days: 30 }],
  ],
  [
    'a person whom a gateway has signed in, with groups, and an installation that only says so',
    { 'service.name': 'claude-code' },
    [
      ...[
        { 'identity.source': 'gateway-oidc' },
        {},
        { 'identity.source': 'gateway-oidc', 'team.id': 'core' },
      ].map((source, place) => ({
        attributes: {
          ...{ 'session.id': 's-1', 'event.timestamp': AT, 'event.name': 'user_prompt' },
          ...{
            'prompt.id': `p-${place}`,
            'user.id': '00u1abcd',
            'user.groups': 'payments, all-staff',
            ...source,
          },
        },
        body: '',
      })),
    ],
    [
      { event_id: 'turn:otlp:p-0', user_id: '00u1abcd', is_installation: null, team: 'all-staff' },
      { event_id: 'turn:otlp:p-1', user_id: '00u1abcd', is_installation: true, team: null },
      { event_id: 'turn:otlp:p-2', user_id: '00u1abcd', is_installation: null, team: 'core' },
    ],
  ],
  [
    'a command of Codex that failed, and a usage of which most was cached',
    { 'service.name': 'codex_exec' },
    [
      {
        attributes: {
          ...{
            'conversation.id': 'c-1',
            'event.timestamp': AT,
            'event.name': 'codex.tool_result',
            call_id: 'call_1',
          },
          ...{ tool_name: 'exec_command', success: 'true', originator: 'codex_exec', arguments: SECRET },
          output: `Chunk ID: 1\nProcess exited with code 3\nOutput:\n${SECRET}`,
        },
        body: '',
      },
      {
        attributes: {
          ...{
            'conversation.id': 'c-1',
            'event.timestamp': AT,
            'event.name': 'codex.sse_event',
            model: 'gpt-5.5',
          },
          ...{ 'event.kind': 'response.completed', input_token_count: '100', cached_token_count: 90 },
          ...{ cache_write_token_count: 4, output_token_count: '7' },
        },
        body: '',
      },
    ],
    [
      { event_id: 'tool:call_1', success: false, user_id: 'unknown', client: 'non-interactive-cli' },
      {
        type: 'model_usage',
        input_tokens: 6,
        cache_read_tokens: 90,
        cache_write_tokens: 4,
        output_tokens: 7,
      },
    ],
  ],
  [
    'a tool of an MCP server that opens a merge request for Codex',
    { 'service.name': 'codex_exec' },
    ['true', 'false'].map((success) => ({
      attributes: {
        ...{ 'conversation.id': 'c-1', 'event.timestamp': AT, 'event.name': 'codex.tool_result' },
        ...{ call_id: `call_${success}`, mcp_server: 'gitlab', tool_name: 'create_merge_request', success },
      },
      body: '',
    })),
    [
      { event_id: 'pull_request:call_true', type: 'pull_request' },
      { event_id: 'tool:call_false', success: false },
      { event_id: 'tool:call_true', tool_name: 'mcp__gitlab__create_merge_request', success: true },
    ],
  ],
  [
    'a tool of an MCP server that opens a pull request for Gemini CLI',
    { 'service.name': 'gemini-cli' },
    [
      {
        attributes: {
          ...{ 'session.id': 's-1', 'event.timestamp': AT, 'event.name': 'gemini_cli.tool_call' },
          ...{ function_name: 'create_pull_request', mcp_server_name: 'github', success: true },
        },
        body: '',
      },
    ],
    [{ type: 'pull_request' }, { type: 'tool_call', tool_name: 'create_pull_request', mcp_server: 'github' }],
  ],
  [
    'calls of a sub-agent of Gemini CLI, whose session is in the id of its prompt',
    { 'service.name': 'gemini-cli' },
    ['helper#0', 's-1########0', 's-1'].map((prompt_id) => ({
      attributes: {
        ...{ 'session.id': 's-1', 'event.timestamp': AT, 'event.name': 'gemini_cli.tool_call' },
        ...{ prompt_id, function_name: 'read_file', success: true },
      },
      body: '',
    })),
    [{ session_id: 's-1' }, { session_id: 's-1' }, { session_id: 'helper' }],
  ],
  [
    'nothing of names that nobody knows',
    CLAUDE,
    [claude('hook_execution_complete', {}), claude('constructor', {}), claude('', {})],
    [],
  ],
];

describe('log records', () => {
  test.each(MAPPED)(
    'with %s become their events, in both encodings',
    async (_, resource, records, expected) => {
      const body = logs(resource, records);
      const bytes = toBinary(
        ExportLogsServiceRequestSchema,
        fromJson(ExportLogsServiceRequestSchema, body as JsonValue),
      );
      for (const [sent, headers] of [
        [body, {}],
        [bytes, PROTOBUF],
      ] as const) {
        const receiver = await Receiver.start(NOW);
        const answer = await receiver.post('logs', sent, headers);
        expect([answer.status, answer.bytes.toString()]).toEqual([200, sent === body ? '{}' : '']);
        const events = await receiver.events();
        expect(events).toMatchObject(expected);
        expect(events).toHaveLength(expected.length);
        expect(JSON.stringify(events)).not.toMatch(/words|nobody/);
        // The same again, in other packing: nothing counts twice.
        await receiver.post('logs', gzipSync(sent === body ? JSON.stringify(body) : bytes), {
          ...headers,
          'content-encoding': 'gzip',
        });
        expect(await receiver.events()).toEqual(events);
      }
    },
  );

  test('have the time that the agent says, else their own, else that of their arrival', async () => {
    const receiver = await Receiver.start(NOW);
    const { 'event.timestamp': _, ...plain } = session;
    const record = (id: string, times: object) => ({
      ...logs(CLAUDE, [{ attributes: { ...plain, 'event.name': 'user_prompt', 'prompt.id': id }, body: '' }])
        .resourceLogs[0]?.scopeLogs[0]?.logRecords[0],
      ...times,
    });
    const body = logs(CLAUDE, []);
    body.resourceLogs[0]?.scopeLogs[0]?.logRecords.push(
      record('1', { timeUnixNano: NANOS, observedTimeUnixNano: '1' }),
      record('2', { timeUnixNano: '0', observedTimeUnixNano: NANOS }),
      record('3', { observedTimeUnixNano: '999' }),
    );
    // A number of nineteen digits, of which a double keeps sixteen: the next millisecond is another day.
    const last = BigInt(Date.parse('2026-06-10T23:59:59.999Z')) * 1_000_000n + 999_999n;
    // A double can have as many digits after its point.
    const text = JSON.stringify(body).replace('"999"', `${last},"other":3.9836420000001453`);
    expect((await receiver.post('logs', text)).json()).toEqual({});
    const events = await receiver.events();
    expect(events.map(({ occurred_at }) => new Date(Number(occurred_at)).toISOString())).toEqual([
      AT,
      AT,
      '2026-06-10T23:59:59.999Z',
    ]);
  });

  test('that name no session count for their user, and in no number of sessions', async () => {
    const receiver = await Receiver.start(NOW);
    const nameless = { 'session.id': '' };
    const body = logs(CLAUDE, [
      claude('user_prompt', { 'prompt.id': 'p-1', ...nameless }),
      claude('tool_result', { tool_use_id: 't-1', tool_name: 'Bash', success: 'true', ...nameless }),
    ]);
    expect((await receiver.post('logs', body)).json()).toEqual({});
    const { world } = receiver;
    await world.inbox.drain(world.store);
    world.now = NOW + 2 * 86_400_000;
    await world.build();
    expect(
      await world.store.select('SELECT user_id, sessions, user_messages, tool_calls FROM users'),
    ).toEqual([{ user_id: 'ada@acme.example', sessions: 0, user_messages: 1, tool_calls: 1 }]);
    const [tools] = await world.store.select(
      'SELECT tool_calls, tool_calls_per_session_avg FROM tools WHERE tool_calls > 0',
    );
    expect(tools).toEqual({ tool_calls: 1, tool_calls_per_session_avg: 0 });
    expect(await world.store.select('SELECT * FROM sessions')).toEqual([]);
  });

  test('that break a rule are rejected, and the others are taken', async () => {
    const receiver = await Receiver.start(NOW);
    const body = logs(CLAUDE, [
      claude('user_prompt', { 'prompt.id': 'p-1' }),
      claude('user_prompt', { 'prompt.id': 'p-2', 'session.id': 's'.repeat(129) }),
      claude('api_request', { request_id: 'r', input_tokens: 'many', output_tokens: 1, model: 'm' }),
      claude('user_prompt', { 'prompt.id': 'p-3', 'event.timestamp': '2026-07-12T00:00:00Z' }),
    ]);
    expect((await receiver.post('logs', body)).json()).toEqual({
      partialSuccess: {
        rejectedLogRecords: '3',
        errorMessage: expect.stringMatching(/^\w+ (must|is) .*\.$/),
      },
    });
    const bytes = toBinary(
      ExportLogsServiceRequestSchema,
      fromJson(ExportLogsServiceRequestSchema, body as JsonValue),
    );
    const answer = await receiver.post('logs', bytes, PROTOBUF);
    expect(fromBinary(ExportLogsServiceResponseSchema, answer.bytes).partialSuccess).toMatchObject({
      rejectedLogRecords: 3n,
    });
    expect(await receiver.events()).toMatchObject([{ event_id: 'turn:otlp:p-1' }]);
    const rejects = await receiver.world.store.select(
      'SELECT DISTINCT line_no, reason, line FROM rejects ORDER BY line_no',
    );
    expect(rejects).toEqual([
      { line_no: 2, reason: 'value_out_of_range', line: null },
      { line_no: 3, reason: 'value_out_of_range', line: null },
      { line_no: 4, reason: 'timestamp_in_future', line: null },
    ]);
  });

  test('are those of the key that sends them, if it is of somebody', async () => {
    const body = logs({ ...CLAUDE, 'daybook.user_id': 'grace' }, [
      claude('user_prompt', { 'prompt.id': 'p-1' }),
    ]);
    for (const [role, userId, expected] of [
      ['member', 'ada', 'ada'],
      ['ingest', undefined, 'grace'],
    ] as const) {
      const receiver = await Receiver.start(NOW, role, userId);
      await receiver.post('logs', body);
      expect(await receiver.events()).toMatchObject([{ user_id: expected }]);
    }
  });

  test('are refused of a member whose key belongs to nobody, whoever they name', async () => {
    const receiver = await Receiver.start(NOW, 'member');
    const record = claude('user_prompt', { 'prompt.id': 'p-1' });
    const answer = await receiver.post('logs', logs({ ...CLAUDE, 'daybook.user_id': 'grace' }, [record]));
    expect([answer.status, JSON.stringify(answer.json())]).toEqual([
      403,
      expect.stringContaining('belongs to no user'),
    ]);
    expect(await receiver.events()).toEqual([]);
  });
});

describe('spans', () => {
  const copilot = { 'service.name': 'github-copilot', 'daybook.user_id': 'ada' };
  const span = (id: string, parent: string, name: string, attributes: Attributes, kind = 1) => ({
    ...{ id, parent, name, kind },
    attributes: { 'gen_ai.operation.name': name, 'gen_ai.conversation.id': 's-1', ...attributes },
  });
  const call = (id: string) => ({
    ...{ 'gen_ai.response.model': 'm', 'gen_ai.response.id': id, 'gen_ai.usage.input_tokens': 100 },
    ...{ 'gen_ai.usage.cache_read.input_tokens': 90, 'gen_ai.usage.output_tokens': 7 },
  });
  const body = spans(copilot, NANOS, [
    span('01', '', 'invoke_agent', { 'gen_ai.usage.input_tokens': 200, 'gen_ai.usage.output_tokens': 14 }),
    span('02', '01', 'chat', call('resp_1')),
    span('03', '01', 'execute_tool', {
      'gen_ai.tool.name': 'bash',
      'gen_ai.tool.call.id': 'c-1',
      'process.exit.code': 3,
    }),
    span('04', '03', 'somethingElse', {}),
    span('05', '04', 'invoke_agent', {}),
    span('06', '05', 'chat', { ...call('resp_2'), 'gen_ai.input.messages': SECRET }),
  ]);

  test('count each call once, and as turns what a person has asked', async () => {
    const bytes = toBinary(
      ExportTraceServiceRequestSchema,
      fromJson(ExportTraceServiceRequestSchema, {
        ...body,
        resourceSpans: JSON.parse(JSON.stringify(body.resourceSpans), (key, value) =>
          /^(trace|span|parentSpan)Id$/.test(key) ? Buffer.from(value, 'hex').toString('base64') : value,
        ),
      } as JsonValue),
    );
    for (const [sent, headers] of [
      [body, {}],
      [bytes, PROTOBUF],
    ] as const) {
      const receiver = await Receiver.start(NOW);
      expect((await receiver.post('traces', sent, headers)).status).toBe(200);
      const events = await receiver.events();
      expect(events).toMatchObject([
        { event_id: 'tool:c-1', success: false, duration_ms: 40, channel: 'otlp_span' },
        { event_id: `turn:otlp:${'0a'.repeat(16)}:${'0'.repeat(14)}01`, type: 'user_message' },
        { event_id: 'usage:otlp:resp_1', input_tokens: 10, cache_read_tokens: 90, output_tokens: 7 },
        { event_id: 'usage:otlp:resp_2', user_id: 'ada', agent: 'copilot-cli' },
      ]);
      expect(events).toHaveLength(4);
    }
  });
});

describe('spans of Copilot in VS Code', () => {
  const at = (second: number) => `${BigInt(NANOS) + BigInt(second) * 1_000_000_000n}`;
  const vscode = { 'service.name': 'copilot-chat', 'daybook.user_id': 'ada', 'session.id': 'window' };
  const span = (id: string, parent: string, name: string, attributes: Attributes) => ({
    ...{ id, parent, name, kind: 1 },
    attributes: { 'gen_ai.operation.name': name, ...attributes },
  });
  const git = {
    'github.copilot.git.repository': 'https://github.com/acme/web',
    'github.copilot.git.branch': 'main',
    'github.copilot.git.commit_sha': 'abc1234',
    'github.copilot.github.org': 'acme',
  };
  const repository = {
    ...{ repo: 'https://github.com/acme/web', git_branch: 'main', head_commit: 'abc1234' },
    repo_owner: 'acme',
  };
  const chat = (id: string, parent: string, more: Attributes = {}) =>
    span(id, parent, 'chat', {
      ...{
        'gen_ai.response.model': 'm',
        'gen_ai.response.id': `resp_${id}`,
        'gen_ai.provider.name': 'github',
      },
      ...{
        'gen_ai.usage.input_tokens': 10,
        'gen_ai.usage.output_tokens': 7,
        'copilot_chat.chat_session_id': 'c-1',
      },
      ...more,
    });
  const tool = (id: string, parameters: Attributes, name = 'tool') =>
    span(id, '01', 'execute_tool', {
      ...{ 'gen_ai.tool.name': name, 'gen_ai.tool.call.id': id, 'gen_ai.conversation.id': 'c-1' },
      ...Object.fromEntries(
        Object.entries(parameters).map(([name, value]) => [`github.copilot.tool.parameters.${name}`, value]),
      ),
    });
  const sent = async (...requests: object[]) => {
    const receiver = await Receiver.start(NOW);
    for (const request of requests) expect((await receiver.post('traces', request)).json()).toEqual({});
    return (await receiver.events()).sort((one, other) =>
      String(one.event_id) < String(other.event_id) ? -1 : 1,
    );
  };

  test('are in the repository that a turn of the session has told, since the turn began', async () => {
    const turn = (id: string, more: Attributes) =>
      span(id, '', 'invoke_agent', { 'gen_ai.conversation.id': 'c-1', ...more });
    const legacy = {
      'copilot_chat.repo.remote_url': 'https://github.com/acme/web',
      'copilot_chat.repo.head_branch_name': 'main',
      'copilot_chat.repo.head_commit_hash': 'abc1234',
    };
    for (const [told, expected] of [
      [git, repository],
      [legacy, { ...repository, repo_owner: null }],
    ] as const) {
      const events = await sent(
        // Sent before anything has told the repository.
        spans(vscode, at(0), [chat('02', '01')]),
        spans(vscode, at(1), [chat('03', '01'), turn('01', told)]),
        spans(vscode, at(2), [chat('05', '04')]),
        spans(vscode, at(3), [chat('06', '04', { 'copilot_chat.chat_session_id': 'c-2' })]),
      );
      const trace = `${'0a'.repeat(16)}:${'0'.repeat(14)}`;
      expect(events).toMatchObject([
        { event_id: `turn:otlp:${trace}01`, session_id: 'c-1', ...expected },
        { event_id: 'usage:otlp:resp_02', session_id: 'c-1', repo: null, provider: 'github' },
        { event_id: 'usage:otlp:resp_03', session_id: 'c-1', ...expected },
        { event_id: 'usage:otlp:resp_05', session_id: 'c-1', ...expected },
        { event_id: 'usage:otlp:resp_06', session_id: 'c-2', repo: null },
      ]);
      expect(events).toHaveLength(5);
    }
  });

  test('tell skills, MCP tools and, with their paths, files; of contents nothing', async () => {
    const events = await sent(
      spans(vscode, NANOS, [
        tool('t-1', { edit_type: 'create', file_path: '/p/a.ts' }),
        tool('t-2', { edit_type: 'str_replace', file_path: '/p/b.ts' }),
        tool('t-3', { edit_type: 'update' }),
        tool('t-4', { skill_name: 'release-notes', command: SECRET }),
        tool('t-5', { mcp_server_name_hash: '0123456789abcdef', mcp_tool_name: 'search' }),
        tool('t-6', {
          mcp_server_name: 'github',
          mcp_server_name_hash: '0f',
          mcp_tool_name: 'create_pull_request',
        }),
        // The CLI.
        tool('t-7', {}, `${'0123456789ab'.padEnd(64, '0')}/${'fedcba987654'.padEnd(64, '0')}`),
      ]),
    );
    expect(events).toMatchObject([
      { event_id: 'file:t-1', path: '/p/a.ts', operation: 'create', lines_added: null },
      { event_id: 'file:t-2', path: '/p/b.ts', operation: 'edit' },
      { event_id: 'pull_request:t-6', type: 'pull_request' },
      { event_id: 'skill:t-4', type: 'skill_use', skill_name: 'release-notes' },
      ...['t-1', 't-2', 't-3', 't-4'].map((id) => ({
        event_id: `tool:${id}`,
        tool_name: 'tool',
        mcp_server: null,
      })),
      { event_id: 'tool:t-5', tool_name: 'mcp__0123456789ab__search', mcp_server: '0123456789ab' },
      { event_id: 'tool:t-6', tool_name: 'mcp__github__create_pull_request', mcp_server: 'github' },
      { event_id: 'tool:t-7', tool_name: 'mcp__0123456789ab__fedcba987654', mcp_server: '0123456789ab' },
    ]);
    expect(events).toHaveLength(11);
    expect(JSON.stringify(events)).not.toContain(SECRET);
  });

  test('tell runs of hooks, and what came of them', async () => {
    const hook = (id: string, attributes: Attributes) =>
      span(id, '01', 'execute_hook', {
        ...{ 'copilot_chat.hook_type': 'PreToolUse', 'copilot_chat.chat_session_id': 'c-1' },
        ...{ 'copilot_chat.hook_input': SECRET, 'copilot_chat.hook_output': SECRET, ...attributes },
      });
    const events = await sent(
      spans(vscode, NANOS, [
        hook('01', {
          ...{ 'copilot_chat.hook_command': 'npm run lint', 'copilot_chat.hook_result_kind': 'success' },
          ...{
            'github.copilot.hook.decision': 'pass',
            'github.copilot.hook.tool_names': '["edit", "shell"]',
          },
        }),
        hook('02', { 'copilot_chat.hook_result_kind': 'error' }),
        hook('03', { 'github.copilot.hook.decision': 'block', 'copilot_chat.hook_result_kind': 'success' }),
        hook('04', { 'copilot_chat.hook_result_kind': 'non_blocking_error' }),
        hook('05', {}),
        span('06', '01', 'execute_hook', {}),
      ]),
    );
    expect(events).toMatchObject([
      {
        ...{ type: 'hook_run', session_id: 'c-1', hook_event: 'PreToolUse', command: 'npm run lint' },
        ...{ matcher: 'edit|shell', exit_code: 0, duration_ms: 40, channel: 'otlp_span' },
      },
      { command: 'unknown', matcher: null, exit_code: 2 },
      { exit_code: 2 },
      { exit_code: 1 },
      { exit_code: null },
    ]);
    expect(events).toHaveLength(5);
    expect(JSON.stringify(events)).not.toContain(SECRET);
  });
});

describe('metrics', () => {
  const points = [
    { value: 10, attributes: { ...session, model: 'm', type: 'input' } },
    { value: 7, attributes: { ...session, model: 'm', type: 'output' } },
    { value: 90, attributes: { ...session, model: 'm', type: 'cacheRead' } },
  ];

  test('become a usage for all types of tokens, and events for what they count', async () => {
    const receiver = await Receiver.start(NOW);
    const body = metrics(CLAUDE, NANOS, 1, {
      'claude_code.token.usage': points,
      'claude_code.commit.count': [{ value: 2, attributes: session }],
      'claude_code.cost.usage': [{ value: 0.5, attributes: session }],
    });
    expect((await receiver.post('metrics', body)).json()).toEqual({});
    const events = await receiver.events();
    expect(events).toMatchObject([
      { type: 'git_commit', channel: 'otlp_metric' },
      { type: 'git_commit' },
      { type: 'model_usage', input_tokens: 10, output_tokens: 7, cache_read_tokens: 90 },
    ]);
    expect(events).toHaveLength(3);
  });

  test('start a session, unless it goes on with another one, whose id they do not have', async () => {
    const receiver = await Receiver.start(NOW);
    const starts = ['fresh', 'resume', 'continue', ''].map((start_type) => ({
      value: 1,
      attributes: {
        ...session,
        'session.id': `s-${start_type}`,
        ...(start_type === '' ? {} : { start_type }),
      },
    }));
    await receiver.post('metrics', metrics(CLAUDE, NANOS, 1, { 'claude_code.session.count': starts }));
    const ids = (await receiver.events()).map(({ type, session_id }) => `${type} ${session_id}`);
    expect(ids.sort()).toEqual(['session_start s-', 'session_start s-fresh', 'session_start s-resume']);
  });

  test('say what the usage cost and how it was made, and nothing of how long what was written to the cache lives', async () => {
    const receiver = await Receiver.start(NOW);
    const ways = [
      { model: 'claude-opus-5[1m]', effort: 'high', speed: 'fast' },
      { model: 'claude-opus-5[1m]', effort: 'high' },
    ];
    const body = metrics(CLAUDE, NANOS, 1, {
      'claude_code.token.usage': ways.map((way) => ({
        value: 7,
        attributes: { ...session, ...way, type: 'cacheCreation' },
      })),
      // The points of two skills are one usage.
      'claude_code.cost.usage': [0.25, 0.5].flatMap((value) =>
        ways.map((way) => ({ value, attributes: { ...session, ...way, 'skill.name': `skill ${value}` } })),
      ),
    });
    expect((await receiver.post('metrics', body)).json()).toEqual({});
    const usage = {
      ...{ model: 'claude-opus-5[1m]', effort: 'high', cache_write_tokens: 7, cache_write_1h_tokens: null },
      reported_cost_usd: 0.75,
    };
    const events = await receiver.events();
    expect(new Set(events.map(({ speed }) => speed))).toEqual(new Set(['fast', null]));
    expect(events).toMatchObject([usage, usage]);
  });

  test('of users whose records name no session count for each of them', async () => {
    const receiver = await Receiver.start(NOW);
    for (const user of ['ada', 'grace'])
      await receiver.post(
        'metrics',
        metrics(CLAUDE, NANOS, 1, {
          'claude_code.token.usage': [
            { value: 10, attributes: { 'user.id': user, 'event.timestamp': AT, model: 'm', type: 'input' } },
          ],
        }),
      );
    expect(await receiver.events()).toMatchObject([{ input_tokens: 10 }, { input_tokens: 10 }]);
  });

  test('that are cumulative are ignored, with advice', async () => {
    const receiver = await Receiver.start(NOW);
    const body = metrics(CLAUDE, NANOS, 2, { 'claude_code.token.usage': points });
    expect((await receiver.post('metrics', body)).json()).toEqual({
      partialSuccess: {
        rejectedDataPoints: '0',
        errorMessage:
          'Cumulative metrics are ignored: set OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta.',
      },
    });
    expect(await receiver.events()).toEqual([]);
  });

  test('name their enums as numbers or as protobuf does, and no name counts as another', async () => {
    const receiver = await Receiver.start(NOW);
    const body = JSON.stringify(metrics(CLAUDE, NANOS, 2, { 'claude_code.token.usage': points }));
    const named = (name: string) =>
      body.replace('"aggregationTemporality":2', `"aggregationTemporality":${name}`);
    expect(named('1')).not.toBe(body);
    const isIgnored = expect.stringContaining('Cumulative metrics are ignored');
    for (const name of ['"AGGREGATION_TEMPORALITY_CUMULATIVE"', '"2"'])
      expect((await receiver.post('metrics', named(name))).json()).toMatchObject({
        partialSuccess: { errorMessage: isIgnored },
      });
    for (const name of ['"CUMULATIVE"', '"aggregation_temporality_cumulative"', '{}'])
      expect((await receiver.post('metrics', named(name))).status, name).toBe(400);
    expect(await receiver.events()).toEqual([]);
    expect((await receiver.post('metrics', named('"AGGREGATION_TEMPORALITY_DELTA"'))).json()).toEqual({});
    const delta = await receiver.events();
    expect(delta.length).toBeGreaterThan(0);
    await receiver.post('metrics', named('1'));
    expect(await receiver.events()).toEqual(delta);
  });
});

describe('a request', () => {
  test('can have the names of protobuf in JSON', async () => {
    const receiver = await Receiver.start(NOW);
    const body = JSON.stringify(logs(CLAUDE, [claude('user_prompt', { 'prompt.id': 'p' })]));
    const underscored = body.replaceAll(
      /"(\w+)":/g,
      (_, name: string) => `"${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}":`,
    );
    expect(underscored).toContain('"resource_logs":');
    expect((await receiver.post('logs', underscored)).json()).toEqual({
      partialSuccess: {
        rejectedLogRecords: '0',
        errorMessage: 'Names such as resourceLogs are those of JSON: the names of protobuf were read.',
      },
    });
    const events = await receiver.events();
    expect(events).toHaveLength(1);
    await receiver.post('logs', body);
    expect(await receiver.events()).toEqual(events);
  });

  test('without any member of its address is a success that says so, and is counted', async () => {
    const receiver = await Receiver.start(NOW);
    const message = (answer: unknown) => Object(Object(answer).partialSuccess).errorMessage;
    const bodies = [
      '{"hello":"world"}',
      '{"timestamp":1,"body":"x"}',
      JSON.stringify(spans(CLAUDE, NANOS, [])),
      '{"resourceLogs":[{"resource":{},"instrumentationLibraryLogs":[]}]}',
      '{"resourceLogs":[{"scopeLogs":[{"scope":{},"logs":[]}]}]}',
    ];
    for (const body of bodies)
      expect(message((await receiver.post('logs', body)).json()), body).toMatch(
        /no resourceLogs, scopeLogs, logRecords: send an export request of logs here/,
      );
    for (const quiet of ['{}', '{"resourceLogs":[]}', '{"resourceLogs":[{"resource":{},"schemaUrl":""}]}'])
      expect((await receiver.post('logs', quiet)).json(), quiet).toEqual({});
    for (const hex of ['120161', '0a03220161', '0a0512032a0161']) {
      const { status, bytes } = await receiver.post('logs', Buffer.from(hex, 'hex'), PROTOBUF);
      expect([status, bytes.toString()], hex).toEqual([200, expect.stringContaining('no resourceLogs')]);
    }
    const { body } = await receiver.app.inject({ url: '/metrics' });
    expect(body).toContain(
      `daybook_otlp_records_total{signal="logs",outcome="unknown"} ${bodies.length + 3}\n`,
    );
    expect(await receiver.events()).toEqual([]);
  });

  test('is taken at an address with a slash too many, and one elsewhere is told the addresses', async () => {
    const receiver = await Receiver.start(NOW);
    const post = (url: string) =>
      receiver.app.inject({
        method: 'POST',
        url,
        headers: { authorization: `Bearer ${receiver.key}`, 'content-type': 'application/json' },
        payload: '{}',
      });
    for (const url of ['/otlp/v1/logs/', '/otlp//v1/logs', '//otlp/v1//logs//', '/otlp/v1/logs/?a='])
      expect((await post(url)).statusCode, url).toBe(url.includes('?') ? 400 : 200);
    for (const url of [
      '/otlp',
      '/otlp/',
      '/otlp/v1/logs/v1/logs',
      '/otlp/logs',
      '/v1/logs',
      '//v1/traces/',
    ]) {
      const { statusCode, body } = await post(url);
      expect([statusCode, body], url).toEqual([
        404,
        expect.stringContaining('/otlp/v1/logs, /otlp/v1/metrics'),
      ]);
    }
  });

  const messageIn = (bytes: Buffer) => {
    const reader = new BinaryReader(bytes);
    expect(reader.tag()[0]).toBe(2);
    return reader.string();
  };

  /** A request with a resource of some attributes, as protobuf. */
  const resourceWith = (attributes: Buffer) => {
    const within = (bytes: Uint8Array) =>
      new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(bytes).finish();
    return Buffer.from(within(within(attributes)));
  };

  test('is refused as its sender can read it', async () => {
    const receiver = await Receiver.start(NOW);
    const cases: [number, string | Buffer, Record<string, string>][] = [
      [400, '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{]}]}]}', {}],
      [400, '{"resourceLogs":{}}', {}],
      [400, '[]', {}],
      [400, '{} {}', {}],
      [400, '{"resourceLogs":[', {}],
      [400, Buffer.from('0a0a', 'hex'), PROTOBUF],
      // A group, and more around records than a request has.
      [400, Buffer.from('1b1c', 'hex'), PROTOBUF],
      [400, Buffer.alloc(5 << 20, Buffer.from('1801', 'hex')), PROTOBUF],
      [400, resourceWith(Buffer.alloc(200_000, Buffer.from('0a00', 'hex'))), PROTOBUF],
      [413, Buffer.alloc(300_000, Buffer.from('0a00', 'hex')), PROTOBUF],
      [400, '{}', { 'content-encoding': 'gzip' }],
      [401, '{}', { authorization: 'Bearer dbk_nothing' }],
      [401, '', { ...PROTOBUF, authorization: '' }],
      [413, gzipSync(Buffer.alloc(80 << 20, ' ')), { 'content-encoding': 'gzip' }],
      [415, '{}', { 'content-encoding': 'br' }],
      [415, 'a,b', { 'content-type': 'text/csv' }],
    ];
    for (const [status, body, headers] of cases) {
      const answer = await receiver.post('logs', body, headers);
      expect(answer.status).toBe(status);
      const isProtobuf = headers['content-type'] === 'application/x-protobuf';
      expect(answer.headers['content-type']).toMatch(isProtobuf ? /x-protobuf$/ : /^application\/json/);
      const message = isProtobuf ? messageIn(answer.bytes) : Object(answer.json()).message;
      expect(message).toMatch(/^\S.*\.$/);
      expect(Object.keys(isProtobuf ? { message } : Object(answer.json()))).toEqual(['message']);
    }
    const get = await receiver.app.inject({
      url: '/otlp/v1/logs',
      headers: { authorization: `Bearer ${receiver.key}` },
    });
    expect([get.statusCode, Object.keys(get.json())]).toEqual([405, ['message']]);
    const nowhere = await receiver.app.inject({
      method: 'POST',
      url: '/otlp/v1/profiles',
      headers: { authorization: `Bearer ${receiver.key}` },
    });
    expect([nowhere.statusCode, Object.keys(nowhere.json())]).toEqual([404, ['message']]);
    expect(await receiver.events()).toEqual([]);
  });

  test('without records is a success', async () => {
    const receiver = await Receiver.start(NOW);
    for (const signal of SIGNALS) {
      expect((await receiver.post(signal, {})).json()).toEqual({});
      const answer = await receiver.post(signal, new Uint8Array(), PROTOBUF);
      expect([answer.status, answer.bytes.length]).toEqual([200, 0]);
    }
  });

  test('can have its key in other headers than those of the API', async () => {
    const receiver = await Receiver.start(NOW);
    const { key } = receiver;
    for (const headers of [
      { authorization: key },
      { authorization: `Bearer%20${key}` },
      { authorization: `bearer ${key}` },
      { authorization: '', 'x-api-key': key },
    ])
      expect((await receiver.post('logs', {}, headers)).status).toBe(200);
    const events = await receiver.app.inject({
      method: 'POST',
      url: '/api/v1/events',
      headers: { 'x-api-key': key, 'content-type': 'application/x-ndjson' },
    });
    expect(events.statusCode).toBe(401);
  });

  test('is to be sent again when the service has no room, and nothing of it is kept', async () => {
    const receiver = await Receiver.start(NOW);
    const { inbox } = receiver.world;
    inbox.receiveChecked = async () => {
      throw new Error('Out of Memory Error: no words');
    };
    const body = logs(CLAUDE, [claude('user_prompt', { 'prompt.id': 'p-1' })]);
    const answer = await receiver.post('logs', body);
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5']);
    expect(await receiver.events()).toEqual([]);
  });

  test('with more than is mapped together is taken in parts, and of a long text only the beginning', async () => {
    const receiver = await Receiver.start(NOW);
    const long = 'x'.repeat(3 << 20);
    const records = Array.from({ length: 2100 }, (_, index) =>
      claude('user_prompt', { 'prompt.id': `p-${index}`, 'session.id': index < 15 ? long : 's-1' }),
    );
    const { json } = await receiver.post('logs', logs(CLAUDE, records));
    expect(json()).toMatchObject({ partialSuccess: { rejectedLogRecords: '15' } });
    expect(await receiver.events()).toHaveLength(2085);
    const points = Array.from({ length: 2500 }, (_, value) => ({
      value,
      attributes: { type: 'input', model: 'm'.repeat(1000), 'session.id': 's-1' },
    }));
    const names = ['token.usage', 'commit.count', 'pull_request.count', 'session.count'];
    const sums = Object.fromEntries(names.map((name) => [`claude_code.${name}`, points]));
    const answer = await receiver.post('metrics', metrics(CLAUDE, NANOS, 1, sums));
    expect(answer.status).toBe(413);
  });

  test('of one sender changes nothing that is remembered of the sessions of a colleague or of another organization', async () => {
    const receiver = await Receiver.start(NOW, 'member', 'ada');
    const { store, now } = receiver.world;
    const mode = (id: string, to_mode: string) =>
      claude('permission_mode_changed', { 'session.id': id, from_mode: 'default', to_mode });
    const flood = ['s-1', ...Array.from({ length: 20_500 }, (_, index) => `flood-${index}`)];
    await receiver.post('logs', logs(CLAUDE, [mode('s-1', 'acceptEdits')]));
    for (const [orgId, userId] of [
      ['acme', 'mallory'],
      ['zeta', 'ada'],
    ] as const) {
      const { key } = await createKey(store, { orgId, role: 'member', userId }, now);
      const answer = await receiver.post(
        'logs',
        logs(
          CLAUDE,
          flood.map((id) => mode(id, 'plan')),
        ),
        { authorization: `Bearer ${key}` },
      );
      expect(answer.status).toBe(200);
    }
    await receiver.post('logs', logs(CLAUDE, [claude('user_prompt', { 'prompt.id': 'p-1' })]));
    expect(await receiver.events()).toMatchObject([{ user_id: 'ada', autonomy_mode: 'auto-low' }]);
  });

  test('leaves memory to other organizations, however many bodies one sends at a time', async () => {
    const memory = new BodyMemory();
    const body = () => Readable.from(Array.from({ length: 60 }, () => Buffer.alloc(1 << 20)));
    let end = () => {};
    let first: Promise<void> | undefined;
    await new Promise<void>((isRead) => {
      first = memory.with('acme', body(), 'identity', () => {
        isRead();
        return new Promise((resolve) => {
          end = resolve;
        });
      });
    });
    await expect(memory.with('acme', body(), 'identity', async () => {})).rejects.toThrow(InboxFull);
    expect(await memory.with('globex', body(), 'identity', async ({ length }) => length)).toBe(60 << 20);
    end();
    await first;
    await memory.with('acme', body(), 'identity', async () => {});
  });

  test('with a record that is too large loses only that', async () => {
    const receiver = await Receiver.start(NOW);
    const body = logs(CLAUDE, [
      claude('user_prompt', { 'prompt.id': 'p-1', prompt: 'x'.repeat(5 << 20) }),
      claude('user_prompt', { 'prompt.id': 'p-2' }),
    ]);
    const bytes = toBinary(
      ExportLogsServiceRequestSchema,
      fromJson(ExportLogsServiceRequestSchema, body as JsonValue),
    );
    expect((await receiver.post('logs', body)).json()).toMatchObject({
      partialSuccess: { rejectedLogRecords: '1' },
    });
    const answer = await receiver.post('logs', bytes, PROTOBUF);
    expect(fromBinary(ExportLogsServiceResponseSchema, answer.bytes)).toEqual(
      create(ExportLogsServiceResponseSchema, {
        partialSuccess: {
          rejectedLogRecords: 1n,
          errorMessage: 'A record must have at most 4 MiB, 100 levels and 50000 values.',
        },
      }),
    );
    expect(await receiver.events()).toMatchObject([{ event_id: 'turn:otlp:p-2' }]);
  });
});

test('the list of attributes that are kept has what the mapping reads, and nothing else', () => {
  const read = (name: string) => readFileSync(join(OTLP.sql, name), 'utf8');
  const inSql = readdirSync(OTLP.sql)
    .filter((name) => name.endsWith('.sql'))
    .flatMap((name) =>
      [...read(name).matchAll(/attributes\['([^']+)'\]/g)].map(([, attribute]) => attribute),
    );
  // These name records, tell them apart, or are settings of sessions.
  const elsewhere = [
    ...[
      'service.name',
      'event.name',
      'event.sequence',
      'decision',
      'prompt_id',
      'gen_ai.operation.name',
      'ai.operationId',
    ],
    ...[
      'permission_mode',
      'from_mode',
      'to_mode',
      'approval_policy',
      'sandbox_policy',
      'mcp_servers',
      'approval_mode',
    ],
  ];
  expect([...new Set([...inSql, ...elsewhere])].sort()).toEqual(JSON.parse(read('attributes.json')).sort());
});
