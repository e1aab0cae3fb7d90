import { z } from 'zod';
import { DestPath, FileName } from './workspace-path.js';

/** The protocol between the service and a computer's agent, as docs/computers.md describes it. */
export const PROTOCOL = 'daybook.agent.v1';

/** The maximum size of a message. It can be small, since files don't travel in messages. */
export const MESSAGE_BYTES = 1 << 16;

/** Codes for connections that end for good: the agent doesn't reconnect by itself. */
export const CLOSE = { deleted: 4001, replaced: 4002, violated: 4003 } as const;

/** Why the agent could not do what it was asked. */
export const Failure = z.enum(['exists', 'outside', 'denied', 'full', 'changed', 'unreachable', 'failed']);
export type Failure = z.infer<typeof Failure>;

/** The agent couldn't do a job. The message is for the one who asked for it. */
export class JobFailed extends Error {
  override name = 'JobFailed';

  constructor(
    readonly reason: Failure,
    detail: string,
  ) {
    super(detail);
  }
}

/** A file to write into the workspace: the agent fetches its bytes. */
export const FileJob = z.strictObject({
  type: z.literal('write'),
  transferId: z.uuid(),
  fileName: FileName,
  /** A folder inside the workspace; absent for the workspace itself. */
  destPath: DestPath.optional(),
  sizeBytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** The file's time in Unix milliseconds, which distinguishes it from another file with the same bytes. */
  createdAt: z.int().min(0),
  /** Where its bytes are; relative to the service's address, or absolute. */
  url: z.string().min(1),
});
export type FileJob = z.infer<typeof FileJob>;

/** A repository to clone into the workspace, into a folder named after the last part of its address. */
const CloneJob = z.strictObject({ type: z.literal('clone'), repo: z.string().min(1) });

/** Dependencies to install: of a clone, or of the workspace itself. */
const InstallJob = z.strictObject({ type: z.literal('install'), repo: z.string().min(1).optional() });

/** The jobs that an agent can be asked to do. */
export const Job = z.discriminatedUnion('type', [FileJob, CloneJob, InstallJob]);
export type Job = z.infer<typeof Job>;

const Id = { id: z.uuid() };

/** The messages of the service. */
export const FromService = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('welcome'),
    computerId: z.string(),
    name: z.string(),
    /** How often the service pings. An agent that hears nothing for three times as long reconnects. */
    heartbeatMs: z.int().min(1).max(3_600_000),
  }),
  z.strictObject({ type: z.literal('job'), ...Id, job: Job }),
]);
export type FromService = z.infer<typeof FromService>;

/** The machine's name for itself. Everyone who may see the computer sees it. */
const Hostname = z.string().regex(/^[A-Za-z0-9._-]{1,255}$/);

/** A machine's own name for itself as a Hostname: other characters become hyphens. */
export function hostnameOf(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 255) || 'unknown';
}

/** The messages of the agent. */
export const FromAgent = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('hello'),
    hostname: Hostname,
    version: z.string().min(1).max(64),
  }),
  z.strictObject({ type: z.literal('done'), ...Id }),
  z.strictObject({ type: z.literal('failed'), ...Id, reason: Failure, detail: z.string().max(4000) }),
]);
export type FromAgent = z.infer<typeof FromAgent>;

/** Parses a message; undefined if it isn't a valid one. */
export function parse<T>(schema: z.ZodType<T>, data: unknown, isBinary: boolean): T | undefined {
  if (isBinary || !Buffer.isBuffer(data)) return undefined;
  try {
    return schema.safeParse(JSON.parse(data.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}
