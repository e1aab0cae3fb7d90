import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { OTLP } from '../ingest/source.js';
import { type Attributes, placeOf } from './allow-list.js';
import type { Signal, Telemetry } from './telemetry.js';

/** A condition for records to become events: an attribute, possibly with one of some values. */
interface Condition {
  readonly place: number;
  /** Undefined for any value. */
  readonly values: readonly string[] | undefined;
}

/** `decision=denied|abort`, or the name of an attribute, or nothing. */
function conditionOf(text: string): Condition | undefined {
  const [name = '', values] = text.split('=');
  return name === '' ? undefined : { place: placeOf(name), values: values?.split('|') };
}

/** Names of records with their conditions. */
const Conditions = z
  .record(z.string(), z.string())
  .default({})
  .transform((records) => new Map(Object.entries(records).map(([name, text]) => [name, conditionOf(text)])));

/**
 * The records of a signal that become events, by name, and the view of sql/source/otlp that maps them; and those that only tell a setting of
 * their session or call.
 */
const Names = z
  .object({ section: z.string(), records: Conditions, settings: Conditions })
  .default({ section: '', records: new Map(), settings: new Map() });

/** sql/source/otlp/names.json: agents, with the services, scopes and name prefixes that identify them. The last one is any other agent. */
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

/** The agent of a record, its name without the agent's prefix, and the view that maps it: undefined if it only tells a setting. */
export interface Known {
  readonly agent: string;
  readonly name: string;
  readonly section: string | undefined;
}

/** The attributes that name a record. */
const NAMED_BY: Readonly<Record<Signal, readonly number[]>> = {
  logs: [placeOf('event.name')],
  metrics: [],
  traces: [placeOf('gen_ai.operation.name'), placeOf('ai.operationId')],
};

const SERVICE = placeOf('service.name');

/** Identifies the agent of a record and the record itself; undefined if it becomes no event and tells no setting. */
export function knownOf(signal: Signal, { name, scope, attributes }: Telemetry): Known | undefined {
  const service = attributes[SERVICE] ?? '';
  let said: string | undefined;
  for (const place of NAMED_BY[signal]) said ||= attributes[place];
  said ||= undefined;
  const agent = agentOf([said ?? name, name], scope, service);
  if (agent === undefined) return undefined;
  const { prefix = '' } = agent;
  // An agent with names of its own for spans can also send the names of the conventions.
  const whole = signal === 'traces' && prefix !== '' && name.startsWith(prefix) ? name : (said ?? name);
  const short = whole.startsWith(prefix) ? whole.slice(prefix.length) : whole;
  const { section, records, settings } = agent[signal];
  const isEvent = holds(records, short, attributes);
  if (!isEvent && !holds(settings, short, attributes)) return undefined;
  return {
    agent: agent.agent === '' ? service : agent.agent,
    name: short,
    section: isEvent ? section : undefined,
  };
}

type Conditions = z.infer<typeof Conditions>;

function holds(conditions: Conditions, name: string, attributes: Attributes): boolean {
  if (!conditions.has(name)) return false;
  const condition = conditions.get(name);
  if (condition === undefined) return true;
  const value = attributes[condition.place];
  return value !== undefined && condition.values?.includes(value) !== false;
}

/** The agents that scopes and services have identified so far. There are few, but a sender can invent many names. */
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
