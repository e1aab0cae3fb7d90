import { join } from 'node:path';
import { z } from 'zod';
import { rm } from '../disk/renames.js';
import { UsageError } from '../exit.js';
import { nameText } from '../input/name-text.js';
import { certificateFaultOf } from '../network/certificate.js';
import { type Answer, AnswerTooLong, Outgoing } from '../network/outgoing.js';
import { ProxyRefusal } from '../network/proxy-agent.js';
import { isNoTls, whyUnreachable } from '../network/unreachable.js';
import { type Connection, connectionOf, HOOKS_FOLDER, writePrivate } from './spool.js';

const CHECK_MS = 5000;

const Wanted = z.object({
  server: z.url({ protocol: /^https?$/, error: 'must be an address as https://daybook.acme.example' }),
  key: z.string().regex(/^\S{1,8192}$/, 'must be an API key or a JWT'),
  user: nameText(128).optional(),
  authorities: z.string().optional(),
});

/**
 * Prepares the connection that hooks use once it is saved; without a server and a key, the existing one. Asks the server whether it
 * accepts payloads, and throws a UsageError if it doesn't.
 */
export async function connectTo(
  folder: string = HOOKS_FOLDER,
  wanted: {
    server?: string | undefined;
    key?: string | undefined;
    user?: string | undefined;
    authorities?: string | undefined;
  },
): Promise<{ sentence: string; save: () => Promise<void> }> {
  if ((wanted.server === undefined) !== (wanted.key === undefined))
    throw new UsageError(
      '--server and --key belong together: give both, or neither if you gave them before.',
    );
  const known = await connectionOf(folder);
  if (wanted.server === undefined && known === undefined)
    return {
      sentence: `Events wait in ${folder}: install again with --server and --key to send them.`,
      save: async () => {},
    };
  const parsed = Wanted.safeParse({
    ...known,
    ...wanted,
    server: wanted.server ?? known?.server,
    key: wanted.key ?? known?.key,
    authorities: wanted.authorities ?? known?.authorities,
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`--${String(issue?.path[0])} ${issue?.message}.`);
  }
  const connection = parsed.data;
  const fault = await faultOf(connection);
  if (fault?.isLasting === true) throw new UsageError(`${fault.sentence}.`);
  return {
    sentence:
      fault === undefined
        ? `From its next session on, the agent reports to ${connection.server}.`
        : `${fault.sentence}, so the key wasn't checked: events wait in ${folder} until it answers.`,
    save: () => writePrivate(folder, 'connection.json', `${JSON.stringify(connection)}\n`),
  };
}

/** Why a service takes no payloads. */
interface ConnectionFault {
  /** Without its full stop. */
  readonly sentence: string;
  /** Whether it stays until somebody changes something. */
  readonly isLasting: boolean;
}

/** Sends a payload that becomes no event. Answers why the service doesn't take it, if it doesn't. */
export async function faultOf({
  server,
  key,
  user,
  authorities,
}: Connection): Promise<ConnectionFault | undefined> {
  const lasting = (sentence: string) => ({ sentence, isLasting: true });
  let answer: Answer;
  const outgoing = await Outgoing.to(server, authorities);
  try {
    answer = await outgoing.send('POST', '/api/v1/hooks', {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        hook_event_name: 'Notification',
        ...(user === undefined ? {} : { user_id: user }),
      }),
      signal: AbortSignal.timeout(CHECK_MS),
    });
  } catch (error) {
    if (error instanceof AnswerTooLong)
      return lasting(`${server} is not a Daybook service: correct --server`);
    if (error instanceof ProxyRefusal) return lasting(`${server} can't be reached: ${error.message}`);
    const sentence = `${server} can't be reached${whyUnreachable(error)}`;
    return { sentence, isLasting: isNoTls(error) || certificateFaultOf(error) !== undefined };
  } finally {
    outgoing.close();
  }
  if (answer.status === 202) return undefined;
  const { status, detail } = answer;
  return lasting(
    `${server} answers ${status}${detail === undefined ? ', and is not a Daybook service: correct --server' : `: ${detail}`}`,
  );
}

/** Forgets the server and its key. Spooled payloads stay. */
export async function disconnect(folder: string = HOOKS_FOLDER): Promise<void> {
  await rm(join(folder, 'connection.json'), { force: true });
}
