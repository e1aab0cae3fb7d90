import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { OTLP } from '../ingest/source.js';
import { placeOf } from './allow-list.js';
import type { Signal, Telemetry } from './telemetry.js';

/** The records that become events, by name, each with the place of an attribute without which it doesn't; -1 for none. */
const Names = z
  .record(z.string(), z.string())
  .default({})
  .transform(
    (names) => new Map(Object.entries(names).map(([name, condition]) => [name, placeOf(condition)])),
  );

/** sql/source/otlp/names.json: agents, by the services, scopes and prefixes of names that tell them. The last one is any other. */
const Agents = z.array(
  z.object({
    agent: z.string(),
    services: z.string().transform((pattern) => new RegExp(pattern)),
    scopes: z
      .string()
      .transform((pattern) => new RegExp(pattern))
      .optional(),
    prefix: z.string().optional(),
    logs: Names,
    metrics: Names,
    traces: Names,
  }),
);
type Agent = z.infer<typeof Agents>[number];

const AGENTS = Agents.parse(JSON.parse(readFileSync(join(OTLP.sql, 'names.json'), 'utf8')));

/** The agent of a record, and its name without the agent's prefix. */
export interface Known {
  readonly agent: string;
  readonly name: string;
}

/** The attributes that name a record. */
const NAMED_BY: Readonly<Record<Signal, readonly number[]>> = {
  logs: [placeOf('event.name')],
  metrics: [],
  traces: [placeOf('gen_ai.operation.name'), placeOf('ai.operationId')],
};

const SERVICE = placeOf('service.name');

/** Which agent a record is of, and what it is; undefined for one that becomes no event. */
export function knownOf(signal: Signal, { name, scope, attributes }: Telemetry): Known | undefined {
  const service = attributes[SERVICE] ?? '';
  let said: string | undefined;
  for (const place of NAMED_BY[signal]) said ||= attributes[place];
  said ||= undefined;
  const agent = agentOf([said ?? name, name], scope, service);
  if (agent === undefined) return undefined;
  const { prefix = '' } = agent;
  // A span of an agent that names its spans itself can have the conventions' names beside that.
  const whole = signal === 'traces' && prefix !== '' && name.startsWith(prefix) ? name : (said ?? name);
  const short = whole.startsWith(prefix) ? whole.slice(prefix.length) : whole;
  const condition = agent[signal].get(short);
  if (condition === undefined || (condition >= 0 && attributes[condition] === undefined)) return undefined;
  return { agent: agent.agent === '' ? service : agent.agent, name: short };
}

/** The agents that services, scopes and the prefixes of names have told so far: there are few, but a sender can name many. */
const TOLD = new LRUCache<string, { agent: Agent | undefined }>({ max: 1000 });

function agentOf(names: readonly string[], scope: string, service: string): Agent | undefined {
  const prefixed = AGENTS.find(
    ({ prefix }) => prefix !== undefined && names.some((name) => name.startsWith(prefix)),
  );
  if (prefixed !== undefined) return prefixed;
  const key = `${scope} ${service}`;
  const told = TOLD.get(key) ?? {
    agent:
      AGENTS.find(({ scopes }) => scopes?.test(scope) === true) ??
      AGENTS.find(({ services }) => services.test(service)),
  };
  if (key.length < 1000) TOLD.set(key, told);
  return told.agent;
}
