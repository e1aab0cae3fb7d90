import { create, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { createKey } from '../../src/api/api-keys.js';
import { ExportLogsServiceRequestSchema } from '../../src/otlp/proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import { NOW } from '../world.js';
import { type Attributes, logs, metrics, Receiver } from './sender.js';

/** What Cursor's servers export, as its wire reference says. None of it could be recorded. */

const AT = '2026-06-10T10:00:00.250Z';
const nanos = (time: string) => `${BigInt(Date.parse(time)) * 1_000_000n}`;
const SCOPE = { name: 'cursor.telemetry', version: '0.1.0' };
const RESOURCE = {
  ...{ 'service.name': 'cursor', 'service.version': '3.10.17', 'cursor.team.id': 7 },
  ...{ 'cursor.surface': 'desktop', 'cursor.user.email': 'Ada@acme.example', 'cursor.user.id': 42 },
};
const SECRET = 'words that nobody keeps';

interface Told {
  readonly name: string;
  readonly attributes: Attributes;
  readonly time?: string;
}

/** A body of log records: their names are in the body, and their times are the records' own. */
function cursorLogs(records: readonly Told[], resource: Attributes = RESOURCE): object {
  const body = logs(
    resource,
    records.map(({ name, attributes }) => ({ body: name, attributes })),
  );
  for (const { scopeLogs } of body.resourceLogs)
    for (const part of scopeLogs)
      Object.assign(part, {
        scope: SCOPE,
        logRecords: part.logRecords.map((record, index) => ({
          ...record,
          timeUnixNano: nanos(records[index]?.time ?? AT),
        })),
      });
  return body;
}

function cursorMetrics(points: readonly { value: number; attributes: Attributes }[], resource = RESOURCE) {
  const body = metrics(resource, nanos(AT), 1, {
    'cursor.tool.calls': points,
    'cursor.token.usage': [{ value: 9, attributes: { 'cursor.token.type': 'input' } }],
    'cursor.cost.usage': [{ value: 0.5, attributes: {} }],
  });
  for (const { scopeMetrics } of body.resourceMetrics)
    for (const part of scopeMetrics) Object.assign(part, { scope: SCOPE });
  return body;
}

const request = (id: string, more: Attributes = {}, time = AT): Told => ({
  ...{ name: 'api_request', time },
  attributes: {
    ...{ 'cursor.event.id': `customer-telemetry:v1:${id}`, 'cursor.source_event.id': SECRET },
    ...{ 'cursor.conversation.id': 'c-1', 'cursor.usage_event.id': `u-${id}` },
    ...{ 'cursor.model.name': 'claude-opus-5-5', 'cursor.api.billable': true },
    ...{ 'cursor.api.request.input_tokens': 14, 'cursor.api.request.output_tokens': 7 },
    ...{ 'cursor.api.request.cache_read_tokens': 90, 'cursor.api.request.cache_creation_tokens': 40 },
    ...more,
  },
});

describe('log records of Cursor', () => {
  test('become events of their conversation, once, also as protobuf', async () => {
    const records: Told[] = [
      request('e1'),
      request('e2', { 'cursor.model.name': 'Auto', 'cursor.api.request.input_tokens': 0 }),
      request('e3', Object.fromEntries(Object.keys(request('').attributes).map((name) => [name, 0]))),
      {
        name: 'skill_activated',
        attributes: {
          ...{ 'cursor.event.id': 's1', 'cursor.conversation.id': 'c-1', 'cursor.skill.name': 'release' },
          ...{ 'cursor.skill.trigger': 'agent_read', 'cursor.skill.source': 'workspace' },
        },
      },
      {
        name: 'cloud_agent_pull_request_opened',
        attributes: { 'cursor.event.id': 'p1', 'cursor.conversation.id': 'bc-1' },
      },
      { name: 'api_error', attributes: { 'cursor.event.id': 'x1', 'cursor.conversation.id': 'c-1' } },
      { name: 'hook_execution_complete', attributes: { 'cursor.hook.name': SECRET } },
      { name: 'conversation_user_message', attributes: { 'cursor.content': SECRET } },
    ];
    const receiver = await Receiver.start(NOW);
    const body = cursorLogs(records);
    const bytes = toBinary(
      ExportLogsServiceRequestSchema,
      fromJson(ExportLogsServiceRequestSchema, body as JsonValue),
    );
    expect(create(ExportLogsServiceRequestSchema)).toBeDefined();
    for (const [sent, type] of [
      [body, 'application/json'],
      [bytes, 'application/x-protobuf'],
    ] as const)
      expect((await receiver.post('logs', sent, { 'content-type': type })).status).toBe(200);
    const events = await receiver.events();
    const common = {
      ...{ agent: 'cursor', agent_version: '3.10.17', channel: 'otlp_log', client: 'desktop' },
      ...{ user_id: 'ada@acme.example', user_email: 'ada@acme.example' },
    };
    expect(events).toMatchObject([
      { ...common, type: 'pull_request', event_id: 'pull_request:otlp:p1', session_id: 'bc-1' },
      { ...common, type: 'skill_use', event_id: 'skill:otlp:s1', skill_name: 'release', session_id: 'c-1' },
      {
        ...{ ...common, type: 'model_usage', event_id: 'usage:otlp:customer-telemetry:v1:e1' },
        ...{ model: 'claude-opus-5-5', input_tokens: 14, output_tokens: 7, request_id: 'u-e1' },
        ...{ cache_read_tokens: 90, cache_write_tokens: 40 },
      },
      { model: 'Auto', input_tokens: 0, cache_read_tokens: 90 },
    ]);
    expect(events).toHaveLength(4);
    expect(JSON.stringify(events)).not.toContain(SECRET);
  });

  test('of a surface in the cloud without an address are of an account', async () => {
    const receiver = await Receiver.start(NOW);
    const resource = { 'cursor.surface': 'cloud_agent', 'cursor.user.account_id': 'user_1' };
    await receiver.post('logs', cursorLogs([request('e1')], resource));
    expect(await receiver.events()).toMatchObject([{ user_id: 'user_1', client: 'cloud-agent' }]);
  });

  test.each([
    ['first', [0, 1]],
    ['later', [1, 0]],
  ])('that say %s that a request is not billed take it away', async (_, order) => {
    const receiver = await Receiver.start(NOW);
    const bodies = [
      [
        {
          name: 'api_correction_not_billed_errored',
          time: '2026-06-11T09:00:00Z',
          attributes: {
            ...{ 'cursor.event.id': 'k1', 'cursor.conversation.id': 'c-1' },
            ...{ 'cursor.usage_event.id': 'u-e1', 'cursor.api.correction.kind': 'not_billed_errored' },
          },
        },
      ],
      [request('e1'), request('e2')],
    ];
    for (const place of order) {
      await receiver.post('logs', cursorLogs(bodies[place] ?? []));
      await receiver.events();
      await receiver.world.build();
    }
    expect(
      await receiver.world.store.select(
        "SELECT event_id FROM counted_events WHERE type = 'model_usage' ORDER BY event_id",
      ),
    ).toEqual([{ event_id: 'usage:otlp:customer-telemetry:v1:e2' }]);
    expect(await receiver.world.store.select('SELECT model_id, calls FROM user_models')).toMatchObject([
      { model_id: 'claude-opus-5-5', calls: 1 },
    ]);
  });
});

describe('metrics of Cursor', () => {
  const points = [
    {
      value: 2,
      attributes: {
        'cursor.tool.kind': 'builtin',
        'cursor.tool.name': 'read',
        'cursor.tool.status': 'success',
      },
    },
    {
      value: 1,
      attributes: {
        ...{ 'cursor.tool.kind': 'mcp', 'cursor.tool.name': 'list_issues', 'cursor.tool.status': 'failure' },
        'cursor.mcp.server.name': 'Linear',
      },
    },
    {
      value: 1,
      attributes: {
        'cursor.tool.kind': 'builtin',
        'cursor.tool.name': 'shell',
        'cursor.tool.status': 'aborted',
      },
    },
  ];

  test('tell calls of tools, and nothing that log records tell', async () => {
    const receiver = await Receiver.start(NOW);
    for (let time = 0; time < 2; time += 1)
      expect((await receiver.post('metrics', cursorMetrics(points))).json()).toEqual({});
    const events = await receiver.events();
    expect(
      events
        .map(({ type, tool_name, mcp_server, success, is_stopped, session_id }) => [
          ...[type, tool_name, mcp_server, success, is_stopped, session_id],
        ])
        .sort(),
    ).toEqual([
      ['tool_call', 'list_issues', 'Linear', false, null, ''],
      ['tool_call', 'read', null, true, null, ''],
      ['tool_call', 'read', null, true, null, ''],
      ['tool_call', 'shell', null, false, true, ''],
    ]);
  });

  test('and log records count once beside hooks, in any order and over midnight', async () => {
    const receiver = await Receiver.start(NOW);
    const { world } = receiver;
    const start = Date.parse('2026-06-10T23:59:58Z');
    const common = {
      ...{ conversation_id: 'c-1', generation_id: 'g-1', cursor_version: '3.10.17' },
      ...{ user_email: 'ada@acme.example', workspace_roots: ['/p'] },
    };
    const hooks = [
      { ...common, hook_event_name: 'beforeSubmitPrompt', prompt: 'x', timestamp: start },
      ...['t1', 't2'].map((tool_use_id, place) => ({
        ...{ ...common, hook_event_name: 'postToolUse', tool_name: 'Read', tool_use_id },
        ...{ tool_output: '{}', timestamp: start - 1000 + place },
      })),
      {
        ...{ ...common, hook_event_name: 'stop', input_tokens: 288, output_tokens: 14 },
        ...{ cache_read_tokens: 180, cache_write_tokens: 80, timestamp: start + 4000 },
      },
    ];
    const ways: Record<string, (orgId: string) => Promise<void>> = {
      hooks: async (orgId) => {
        const { key } = await createKey(world.store, { orgId, role: 'member', userId: 'ada' }, world.now);
        for (const payload of hooks)
          expect(
            (
              await receiver.app.inject({
                ...{ method: 'POST', url: '/api/v1/hooks', payload },
                headers: { authorization: `Bearer ${key}` },
              })
            ).statusCode,
          ).toBe(202);
      },
      otlp: async (orgId) => {
        const { key } = await createKey(world.store, { orgId, role: 'ingest' }, world.now);
        const headers = { authorization: `Bearer ${key}` };
        const requests = [0, 3000].map((offset, place) =>
          request(`e${place}`, {}, new Date(start + offset).toISOString()),
        );
        await receiver.post('logs', cursorLogs(requests), headers);
        await receiver.post('metrics', cursorMetrics(points.slice(0, 1)), headers);
      },
    };
    for (const [orgId, order] of [
      ['hooks-first', ['hooks', 'otlp']],
      ['otlp-first', ['otlp', 'hooks']],
    ] as const)
      for (const way of order) {
        await ways[way]?.(orgId);
        await world.inbox.drain(world.store);
        await world.build();
      }
    for (const orgId of ['hooks-first', 'otlp-first']) {
      const rows = await world.store.select(
        'SELECT event_id FROM counted_events WHERE org_id = $org_id ORDER BY event_id',
        { org_id: orgId },
      );
      expect(rows.map(({ event_id }) => event_id)).toEqual([
        ...['tool:t1', 'tool:t2', 'turn:hook:g-1', 'usage:hook:g-1'],
      ]);
    }
  });
});
