import { createHmac } from 'node:crypto';
import { isAllowedHost } from '../network/allowed-host.js';
import { limitedFetch } from '../network/outgoing.js';
import { faultText } from '../network/provider-text.js';
import type { Config } from '../settings/config.js';
import type { Way } from './alert-settings.js';
import type { Message } from './message.js';

/** How long a receiver may take for each step: milliseconds. */
const STEP_MS = 10_000;
/** How long a server of e-mail may take for all of it. */
const MAIL_MS = 30_000;

/** A message that wasn't taken, and why. */
export class Undelivered extends Error {
  override name = 'Undelivered';
}

/** Sends a message one way out. Throws Undelivered. `now` is Unix milliseconds. */
export async function sendMessage(way: Way, message: Message, config: Config, now: number): Promise<void> {
  if (way.kind === 'email') return sendMail(way.to, message, config);
  if (way.url === null || way.url === '' || way.secret === '')
    throw new Undelivered("its address or key can't be decrypted with DAYBOOK_SECRET_KEY: enter both again");
  if (!isAllowedHost(way.url, config.alertHosts))
    throw new Undelivered(
      `DAYBOOK_ALERT_HOSTS of the service doesn't have ${new URL(way.url).host}: ask whoever runs it to add it`,
    );
  const body = JSON.stringify(FORMS[way.kind](message));
  const headers = { 'content-type': 'application/json', 'user-agent': 'daybook' };
  const secrets = [way.url, new URL(way.url).pathname, way.secret ?? undefined];
  try {
    const answer = await limitedFetch(way.url, {
      method: 'POST',
      headers:
        way.secret === null ? headers : { ...headers, ...signatureOf(way.secret, message.id, body, now) },
      body,
      signal: AbortSignal.timeout(STEP_MS),
    });
    if (answer.ok) return void (await answer.body?.cancel());
    throw new Undelivered(`it answers ${answer.status} ${(await answer.text()).slice(0, 200)}`.trim());
  } catch (error) {
    throw new Undelivered(faultText(error, secrets));
  }
}

/** The headers by which a receiver knows that a message is Daybook's, and whether it is a repetition (Standard Webhooks 1.0). */
function signatureOf(secret: string, id: string, body: string, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** The lines with where to see more. */
function linesOf({ lines, url }: Message): string[] {
  return url === undefined ? [...lines] : [...lines, url];
}

const FORMS: Readonly<Record<'webhook' | 'slack' | 'teams', (message: Message) => object>> = {
  webhook: ({ id, kind, orgId, title, lines, data, url }) => ({
    ...{ id, type: `daybook.${kind}`, org_id: orgId, title, lines, url: url ?? null },
    ...data,
  }),
  // In its texts only these three have a meaning that can't be switched off.
  slack: (message) => ({
    text: [`*${message.title}*`, ...linesOf(message).map((line) => `• ${line}`)]
      .join('\n')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;'),
  }),
  // An adaptive card, as workflows of Teams and its older connectors take it.
  teams: (message) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            { type: 'TextBlock', weight: 'bolder', size: 'medium', wrap: true, text: plain(message.title) },
            ...linesOf(message).map((line) => ({ type: 'TextBlock', wrap: true, text: plain(line) })),
          ],
        },
      },
    ],
  }),
};

/** A text without the meaning that its characters have in Markdown. */
function plain(text: string): string {
  return text.replaceAll(/[\\*_[\]()#`]/g, '\\$&');
}

/** Sends a message by e-mail. Throws Undelivered. */
export async function sendMail(to: readonly string[], message: Message, { smtp }: Config): Promise<void> {
  if (smtp === undefined)
    throw new Undelivered('the service has no server for e-mail: ask whoever runs it to set DAYBOOK_SMTP');
  // An erased person's address is a pseudonym.
  const known = to.filter((address) => address.includes('@'));
  if (known.length === 0) throw new Undelivered('it has no address: enter one');
  const { createTransport } = await import('nodemailer');
  const { hostname, port, protocol, username, password } = new URL(smtp.url);
  const isSecure = protocol === 'smtps:';
  const transport = createTransport({
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    // A password isn't sent in the clear.
    requireTLS: !isSecure && username !== '',
    ...(username === ''
      ? {}
      : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    ...{ connectionTimeout: STEP_MS, socketTimeout: STEP_MS, dnsTimeout: STEP_MS },
    // Before that of the socket, which says less.
    greetingTimeout: STEP_MS - 1000,
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  let limit: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    limit = setTimeout(() => {
      transport.close();
      reject(new Error(`it took more than ${MAIL_MS / 1000} seconds`));
    }, MAIL_MS);
  });
  try {
    const sending = transport.sendMail({
      from: smtp.from,
      to: known,
      subject: `Daybook: ${message.title}`,
      text: `${linesOf(message).join('\n\n')}\n`,
      messageId: `<${message.id}@daybook>`,
    });
    sending.catch(() => {});
    await Promise.race([sending, late]);
  } catch (error) {
    throw new Undelivered(faultText(error, [decodeURIComponent(password)]));
  } finally {
    clearTimeout(limit);
    transport.close();
  }
}
