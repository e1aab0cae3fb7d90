import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Caller } from '../api/caller.js';
import { ApiError } from '../api/errors.js';
import { parseJsonBodies } from '../api/json-body.js';
import { isTimely } from '../ingest/event-members.js';
import type { Sender } from '../ingest/inbox.js';
import { FULL, goneOf, type InboxDeps, onlyUsersOf, refusalOfBody } from '../ingest/request-body.js';
import { RequestMapper } from '../ingest/request-mapper.js';
import { HOOKS } from '../ingest/source.js';
import { withControlsEscaped } from '../input/json-object.js';
import { NOT_BLANK, nameText } from '../input/name-text.js';
import { erasedIn } from '../store/state/erased-names.js';
import type { Store } from '../store/store.js';
import { inOneForm, isMapped, isOfTool, withoutWords } from './payload.js';
import type { Payload } from './payload-members.js';

/** A text from an agent. Unusual ones are accepted too. */
const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(...NOT_BLANK)
    .optional();
const unknown = (example: unknown) =>
  z
    .unknown()
    .optional()
    .meta({ examples: [example] });

const HookPayload = z
  .looseObject({
    hook_event_name: z
      .string()
      .min(1)
      .max(200)
      .meta({ examples: ['PostToolUse'] }),
    session_id: text(128).meta({ description: 'required if the payload becomes events', examples: ['s-1'] }),
    cwd: z
      .string()
      .nullish()
      .meta({ examples: ['/home/ada/project'] }),
    permission_mode: z
      .string()
      .nullish()
      .meta({ examples: ['acceptEdits'] }),
    tool_name: text(2048).meta({
      description: 'required for PreToolUse, PostToolUse and PostToolUseFailure',
      examples: ['Edit'],
    }),
    tool_use_id: z
      .string()
      .nullish()
      .meta({ examples: ['toolu_01'] }),
    tool_input: unknown({ file_path: '/home/ada/project/app.ts' }),
    tool_response: unknown({ filePath: '/home/ada/project/app.ts' }),
    timestamp: z
      .union([z.int(), z.iso.datetime({ offset: true })])
      .optional()
      .meta({
        description: 'when it happened, in RFC 3339 or Unix milliseconds; without it, now',
        examples: ['2026-06-01T09:30:00.250Z'],
      }),
    payload_id: text(100).meta({
      description: 'distinguishes it from equal payloads; without it, equal payloads count once a day',
      examples: ['0f8b6c1e'],
    }),
    user_id: nameText(128)
      .optional()
      .meta({
        description: "user of the session; without it, the key's user",
        examples: ['ada'],
      }),
    client: z
      .string()
      .regex(
        /^[a-z][a-z0-9-]{0,31}$/,
        'must begin with a lower-case letter and have at most 32 lower-case letters, digits and hyphens',
      )
      .optional()
      .meta({ description: 'as in events', examples: ['terminal-ui'] }),
    entrypoint: z
      .string()
      .nullish()
      .meta({
        description: 'how the agent was started; names the client if `client` is absent',
        examples: ['cli'],
      }),
    agent: text(128).meta({ description: 'as in events', examples: ['claude-code'] }),
    hook_runs: z
      .array(
        z.strictObject({
          command: z.string().min(1).max(2048),
          matcher: z.string().max(2048),
          exit_code: z.int().nullable(),
          duration_ms: z.int().min(0).max(1e11),
          timed_out: z.boolean(),
        }),
      )
      .max(1000)
      .optional()
      .meta({
        description: "the commands that ran on the event; replaces the event's other members",
        examples: [
          [{ command: 'npm run format', matcher: 'Edit', exit_code: 0, duration_ms: 250, timed_out: false }],
        ],
      }),
  })
  .meta({ id: 'HookPayload', description: 'what an agent gives to a hook on standard input' });

/** Unlike events, a payload is parsed in one piece, during which the process answers nobody else. */
const PAYLOAD_BYTES = 1 << 20;

/** The user of a payload's session. Throws 403 if the caller may not name this user, or if there is none. */
async function userOf(store: Store, caller: Caller, wanted: string | undefined): Promise<string> {
  const { role, userId } = caller;
  if (wanted !== undefined && (await onlyUsersOf(store, caller))?.includes(wanted) === false)
    throw new ApiError(
      403,
      `A credential of role ${role} may send only payloads of its own user_id, ${userId}: this one was not accepted.`,
    );
  const user = wanted ?? userId;
  if (user === null)
    throw new ApiError(403, 'This key belongs to no user: send user_id, or create a key with --user.');
  if ((await erasedIn(store, caller.orgId))?.(user) === true)
    throw new ApiError(403, 'The user_id is of a person who was erased, of whom nothing is taken any more.');
  return user;
}

function instantOf(timestamp: string | number | undefined, now: number): number {
  const instant = typeof timestamp === 'string' ? Date.parse(timestamp) : (timestamp ?? now);
  if (!isTimely(instant, now))
    throw new ApiError(
      400,
      'The member timestamp must be in 2020 or later, and at most 24 hours in the future.',
    );
  return instant;
}

/** Receives payloads of hooks (docs/hooks.md, "What becomes of a payload"). */
export const hookRoutes: FastifyPluginAsyncZod<InboxDeps> = async (app, { inbox, store, clock }) => {
  const mapper = new RequestMapper(HOOKS);
  app.addHook('onClose', () => mapper.close());
  parseJsonBodies(app, withControlsEscaped);

  /** Maps a payload, and stores its events durably. */
  const keepEvents = async (payload: Payload, sender: Sender) => {
    const lines = await mapper.map(payload, sender.orgId);
    await inbox.receive(Readable.from(lines.map((line) => Buffer.from(`${line}\n`))), sender);
  };

  app.post(
    '',
    {
      bodyLimit: PAYLOAD_BYTES,
      config: {
        action: 'send events',
        errors: {
          400: 'The member hook_event_name is required: it must be a string.',
          503: FULL,
        },
      },
      schema: {
        tags: ['events'],
        summary: 'Send the payload of a hook',
        description:
          'The payload becomes events; its texts are dropped. It is on disk when the answer comes, and counts once however often it is sent.',
        body: HookPayload,
        response: { 202: z.null().meta({ description: 'taken' }) },
      },
    },
    async (request, reply) => {
      const { body, caller } = request;
      const userId = await userOf(store, caller, body.user_id);
      const timestamp = instantOf(body.timestamp, clock());
      const own = inOneForm(body);
      if (isMapped(own)) {
        for (const name of ['session_id', ...(isOfTool(own) ? ['tool_name'] : [])])
          if (own[name] === undefined)
            throw new ApiError(
              400,
              `The member ${name} is required, because ${body.hook_event_name} becomes events.`,
            );
        const payload_id = own.payload_id ?? hash('sha256', JSON.stringify(body)).slice(0, 32);
        const sender = {
          requestId: request.id,
          orgId: caller.orgId,
          onlyUsers: [userId],
          encoding: 'identity',
          isArray: false,
          keepsText: false,
          isErased: await erasedIn(store, caller.orgId),
          gone: goneOf(reply),
        } as const;
        const payload = { ...withoutWords(own), user_id: userId, timestamp, payload_id };
        await keepEvents(payload, sender).catch((error) => {
          throw refusalOfBody(error, request.log);
        });
      }
      return (reply as FastifyReply).status(202).send();
    },
  );
};
