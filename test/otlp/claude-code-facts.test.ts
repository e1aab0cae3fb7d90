import { basename } from 'node:path';
import { expect } from 'vitest';
import { z } from 'zod';
import { sampleFolders, testSamples } from '../samples.js';
import { decoded, Receiver, recordedRequests } from './sender.js';

/** What records of Claude Code say beside counts comes through, as a reading of the requests themselves has it. */

const AFTERWARDS = Date.parse('2027-01-01T12:00:00Z');

const Attribute = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()).default({}) });
const Document = z.object({
  resourceLogs: z.array(
    z.object({
      scopeLogs: z.array(z.object({ logRecords: z.array(z.object({ attributes: z.array(Attribute) })) })),
    }),
  ),
});

type Said = Readonly<Record<string, string>>;

/** The attributes of all log records, as texts. */
function recordsIn(folder: string): Said[] {
  return recordedRequests(folder)
    .filter(({ signal }) => signal === 'logs')
    .flatMap(({ json, body }) => Document.parse(json ?? decoded('logs', body)).resourceLogs)
    .flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords))
    .map(({ attributes }) =>
      Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])])),
    );
}

const MODES: Readonly<Record<string, string>> = {
  default: 'manual',
  acceptEdits: 'auto-low',
  auto: 'auto-medium',
};

/** What every record says of where and for whom it was. */
const commonOf = (said: Said) => ({
  session_id: said['session.id'] ?? '',
  repo: said['vcs.repository.url.full'] ?? null,
  repo_owner: said['vcs.owner.name'] ?? null,
  team: said['team.id'] ?? null,
  department: said.department ?? null,
  cost_center: said.cost_center ?? null,
  agent_id: said.agent_id ?? null,
});

/** Members of stored events, by id. */
async function storedIn(receiver: Receiver, type: string, members: readonly string[]) {
  const events = (await receiver.events()).filter((event) => event.type === type);
  return Object.fromEntries(
    events.map((event) => [
      String(event.event_id),
      Object.fromEntries(members.map((member) => [member, event[member]])),
    ]),
  );
}

for (const folder of sampleFolders('captures/claude-code'))
  testSamples(
    `captures/claude-code/${basename(folder)}`,
    `${basename(folder)}: calls say how they were made, where and for whom; tools in which mode they were allowed`,
    async () => {
      const receiver = await Receiver.start(AFTERWARDS);
      for (const { signal, type, body } of recordedRequests(folder))
        if (signal === 'logs') await receiver.post(signal, body, { 'content-type': type });
      const records = recordsIn(folder);
      const named = (name: string) => records.filter((said) => said['event.name'] === name);

      const calls = named('api_request').map((said) => {
        const how = {
          model: said.model,
          speed: said.speed ?? null,
          effort: said.effort ?? null,
          provider: said['anthropic.provider'] === 'firstParty' ? 'anthropic' : null,
          plan: said['anthropic.plan'] ?? null,
          cache_write_1h_tokens: Number(said.cache_creation_1h_tokens),
          cache_write_5m_tokens: Number(said.cache_creation_5m_tokens),
        };
        return [`usage:otlp:${said.request_id}`, { ...commonOf(said), ...how }] as const;
      });
      expect(calls).not.toEqual([]);
      const members = [...Object.keys(calls[0]?.[1] ?? {}), 'cache_write_tokens'];
      const stored = await storedIn(receiver, 'model_usage', members);
      const told = Object.entries(stored).map(([id, { cache_write_tokens, ...usage }]) => [
        id,
        { ...usage, cache_write_5m_tokens: Number(cache_write_tokens) - Number(usage.cache_write_1h_tokens) },
      ]);
      expect(Object.fromEntries(told)).toEqual(Object.fromEntries(calls));
      expect(calls.filter(([, { repo }]) => repo !== null)).not.toEqual([]);
      expect(new Set(calls.map(([, { team }]) => team))).toEqual(new Set(['platform']));

      // A record without a session tells no mode to anything else.
      const decided = new Map(
        named('tool_decision').map((said) => [
          said.tool_use_id,
          said['session.id'] === undefined ? null : MODES[said.permission_mode ?? ''],
        ]),
      );
      expect([...decided.values()]).not.toContain(undefined);
      const ended = [
        ...named('tool_result'),
        ...named('tool_decision').filter((said) => said.decision === 'reject'),
      ];
      expect(await storedIn(receiver, 'tool_call', [...Object.keys(commonOf({})), 'autonomy_mode'])).toEqual(
        Object.fromEntries(
          ended.map((said) => [
            `tool:${said.tool_use_id}`,
            { ...commonOf(said), autonomy_mode: decided.get(said.tool_use_id) },
          ]),
        ),
      );

      const commits = named('tool_result').flatMap((said) => {
        const head_commit = said['vcs.ref.head.revision'];
        const git_branch = said['vcs.ref.head.name'];
        return head_commit === undefined ? [] : [{ head_commit, git_branch, commit_sha: head_commit }];
      });
      const storedCommits = await storedIn(receiver, 'git_commit', [
        'head_commit',
        'git_branch',
        'commit_sha',
      ]);
      expect(Object.values(storedCommits)).toEqual(expect.arrayContaining(commits));
      expect(Object.values(storedCommits)).toHaveLength(commits.length);
    },
  );

testSamples('captures/claude-code', 'recordings tell several modes, sub-agents and speeds', async () => {
  const records = sampleFolders('captures/claude-code').flatMap(recordsIn);
  const valuesOf = (name: string) => new Set(records.flatMap((said) => said[name] ?? []));
  expect(valuesOf('permission_mode').size).toBeGreaterThan(1);
  expect(valuesOf('agent_id').size).toBeGreaterThan(5);
  expect(valuesOf('effort').size).toBeGreaterThan(1);
});
