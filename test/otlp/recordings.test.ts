import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Signal } from '../../src/otlp/telemetry.js';
import { readSql } from '../../src/store/sql-text.js';
import { expectNoText } from '../private-text.js';
import { countsOf, readTruth, sampleFolders, testSamples, usageOf } from '../samples.js';
import { Receiver, recordedRequests, textsOf } from './sender.js';

const NOW = Date.parse('2026-11-23T12:00:00Z');

/** What agents can't tell over OTLP: how many calls of tools are missing, and how many failed ones are told as successes. */
const UNTOLD: Record<string, { calls?: number; failures?: number; usages?: number; turns?: number }> = {
  // A tool that a person refuses is in no record.
  'codex/tui': { calls: 1, failures: 1 },
  // A patch that fails before it runs is in no record.
  'codex/v0147': { calls: 1 },
  // Gemini CLI calls a command a success that exits with 3.
  'gemini-cli/edit-commit': { failures: 1 },
  // The last spans are lost at the exit of opencode, and none is a prompt.
  'opencode/otel': { usages: 1, turns: 1 },
};

for (const agent of ['codex', 'gemini-cli', 'qwen-code', 'copilot-cli', 'opencode'])
  for (const folder of sampleFolders(`captures/${agent}`)) {
    if (!readdirSync(folder).includes('otlp')) continue;
    const name = folder.split('/').slice(-2).join('/');
    testSamples(`captures/${name}`, `what ${name} sends gives what it did, and keeps no text`, async () => {
      const receiver = await Receiver.start(NOW);
      const requests = recordedRequests(folder);
      for (const { signal, type, body } of requests) {
        const answer = await receiver.post(signal, body, { 'content-type': type });
        expect([answer.status, answer.bytes.toString()]).toEqual([
          200,
          type === 'application/json' ? '{}' : '',
        ]);
      }
      const events = await receiver.events();
      // Once more: nothing counts twice.
      for (const { signal, type, body } of requests)
        await receiver.post(signal, body, { 'content-type': type });
      expect(await receiver.events()).toEqual(events);

      const truth = readTruth(folder);
      const { calls = 0, failures = 0, usages = 0, turns = 0 } = UNTOLD[name] ?? {};
      const { totals, person_turns, tool_calls } = truth;
      const sums = Object.values(await usageOf(receiver.world, 'acme')).reduce(
        (sum, counts) => sum.map((one, index) => one + (counts[index] ?? 0)),
        [0, 0, 0, 0],
      );
      const written = events.reduce((sum, event) => sum + Number(event.cache_write_tokens ?? 0), 0);
      const { calls: all, input_uncached, cached } = totals.all;
      expect(sums[0]).toBe(all - usages);
      if (usages === 0) expect([(sums[1] ?? 0) + written, sums[2]]).toEqual([input_uncached, cached]);
      const counts = await countsOf(receiver.world, 'acme');
      expect(counts).toMatchObject({
        turns: person_turns.length - turns,
        tool_calls: tool_calls.length - calls,
        failed_tool_calls: tool_calls.filter(({ success }) => success === false).length - failures,
      });
      expect(new Set(events.map((event) => event.agent))).toEqual(new Set([agent]));
      // A database has its own SQL in it.
      await expectNoText(receiver.world, requests.map(textsOf), [OWN]);
    });
  }

/** What a database says without any events. */
const OWN = `authorization ${readSql('source/functions.sql')}`;

const CRIBL = 'otlp/claude-code/JacobPEvans+cc-edge-claude-code-otel/data/samples';

/** A document of Cribl as OTLP has it: members in camelCase, attributes as lists, 64-bit integers as texts. */
function converted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(converted);
  if (typeof value !== 'object' || value === null) return value;
  const members: [string, unknown][] = Object.entries(value).flatMap(
    ([name, member]): [string, unknown][] => {
      if (name === 'attributes')
        return [
          [
            'attributes',
            Object.entries(member as Record<string, unknown>).map(([key, one]) => ({
              key,
              value: typeof one === 'object' ? converted(one) : { stringValue: String(one) },
            })),
          ],
        ];
      const camel = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
      if (name === 'value') return [['asDouble', member]];
      if (camel === 'data') return [['sum', converted(member)]];
      return [[camel, camel.endsWith('UnixNano') ? String(member) : converted(member)]];
    },
  );
  return Object.fromEntries(members);
}

testSamples(CRIBL, 'what Claude Code sends gives what it did', async (folder) => {
  for (const [signal, expected] of [
    [
      'logs',
      {
        usage: {
          '2026-02-18 claude-haiku-4-5-20251001': [1, 2285, 0, 108],
          '2026-02-18 claude-opus-4-6': [4, 4540, 62_250, 3187],
        },
        counts: { turns: 3, replies: 5, tool_calls: 7, failed_tool_calls: 2 },
        written: 3200,
      },
    ],
    [
      'metrics',
      {
        usage: {
          '2026-02-18 claude-haiku-4-5-20251001': [expect.any(Number), 10_036, 0, 560],
          '2026-02-18 claude-opus-4-6': [expect.any(Number), 1817, 1_244_335, 8140],
        },
        counts: { commits: 3, pull_requests: 1 },
        written: 104_559,
      },
    ],
  ] as [Signal, { usage: object; counts: object; written: number }][]) {
    const receiver = await Receiver.start(NOW);
    for (const file of readdirSync(folder)) {
      for (const { _raw } of JSON.parse(readFileSync(join(folder, file), 'utf8')) as { _raw: string }[]) {
        const document = JSON.parse(_raw);
        const member = signal === 'logs' ? 'scope_logs' : 'scope_metrics';
        if (document[member] === undefined) continue;
        const body = { [signal === 'logs' ? 'resourceLogs' : 'resourceMetrics']: [converted(document)] };
        expect((await receiver.post(signal, body)).json()).toEqual({});
      }
    }
    const events = await receiver.events();
    expect(await usageOf(receiver.world, 'acme')).toEqual(expected.usage);
    expect(await countsOf(receiver.world, 'acme')).toMatchObject(expected.counts);
    expect(events.reduce((sum, event) => sum + Number(event.cache_write_tokens ?? 0), 0)).toBe(
      expected.written,
    );
  }
});
