import { z } from 'zod';
import { SealedRevisions } from '../controls/sealed-revisions.js';
import { MASK } from '../controls/settings-secrets.js';
import { DaySchema } from '../day.js';
import { EmailText, nameText } from '../input/name-text.js';
import { alertRevisions } from '../store/state/alert-revisions.js';

/** What alerts are of, in the order in which a message tells them. */
export const CONDITIONS = ['unbuilt_day', 'budget', 'dear_day', 'unpriced', 'rejected', 'silent'] as const;
export type Condition = (typeof CONDITIONS)[number];

/** How many ways out an organization can have, and how many addresses one of e-mail. */
const WAYS_AT_MOST = 10;
const ADDRESSES_AT_MOST = 20;

/** The form in which others have keys of webhooks (Standard Webhooks 1.0): the rest is 24 to 64 bytes in Base64. */
const WEBHOOK_KEY = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;

const Way = z
  .strictObject({
    name: nameText(64).meta({ description: 'names the way, once', examples: ['on-call'] }),
    kind: z.enum(['webhook', 'slack', 'teams', 'email']).meta({ examples: ['webhook'] }),
    url: z
      .union([
        z.literal(MASK),
        z
          .url({
            protocol: /^https?$/,
            error: 'must be an address such as https://alerts.acme.example/daybook',
          })
          .max(2048),
      ])
      .nullable()
      .default(null)
      .meta({
        description:
          'address that messages are posted to, a secret: answers have ***, and *** keeps it; null for e-mail',
        examples: ['https://alerts.acme.example/daybook'],
      }),
    secret: z
      .union([
        z.literal(MASK),
        z.string().regex(WEBHOOK_KEY, 'must be whsec_ and 24 to 64 bytes in Base64, or ***'),
      ])
      .nullable()
      .default(null)
      .meta({
        description: 'key with which webhooks are signed; *** keeps it; null for all other kinds',
        examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      }),
    to: z
      .array(EmailText)
      .max(ADDRESSES_AT_MOST)
      .default([])
      .meta({ description: 'addresses, such as platform@acme.example; only of e-mail', examples: [[]] }),
    takes: z
      .array(z.enum(['alerts', 'digest']))
      .min(1)
      .max(2)
      .default(['alerts', 'digest'])
      .meta({ description: 'what is sent this way', examples: [['alerts', 'digest']] }),
  })
  .superRefine(({ kind, url, secret, to }, context) => {
    const demand = (path: string, isMet: boolean, message: string) => {
      if (!isMet) context.addIssue({ code: 'custom', path: [path], message });
    };
    const isMail = kind === 'email';
    demand('url', (url === null) === isMail, isMail ? 'must be null for e-mail' : 'must be an address');
    demand('to', to.length > 0 === isMail, isMail ? 'must have an address' : 'is only for e-mail');
    demand(
      'secret',
      (secret !== null) === (kind === 'webhook'),
      kind === 'webhook' ? 'must be a key: messages of a webhook are signed' : 'is only for webhooks',
    );
  });
export type Way = z.infer<typeof Way>;

const Mute = z.strictObject({
  condition: z.enum(CONDITIONS).meta({ examples: ['silent'] }),
  until: DaySchema.nullable()
    .default(null)
    .meta({ description: 'the last day of it, in UTC; null for one that lasts', examples: ['2026-06-30'] }),
  reason: nameText(500)
    .nullable()
    .default(null)
    .meta({ description: 'why', examples: ['summer holidays'] }),
});

/** What an organization says of its alerts. */
export const AlertSettings = z.strictObject({
  ways: z
    .array(Way)
    .max(WAYS_AT_MOST)
    .refine(
      (ways) => new Set(ways.map(({ name }) => name)).size === ways.length,
      'must not have two ways of the same name',
    )
    .default([])
    .meta({ description: 'where messages go' }),
  mutes: z
    .array(Mute)
    .max(CONDITIONS.length)
    .refine(
      (mutes) => new Set(mutes.map(({ condition }) => condition)).size === mutes.length,
      'must not mute a condition twice',
    )
    .default([])
    .meta({ description: 'what nobody is told of' }),
  leads: z
    .boolean()
    .default(false)
    .meta({ description: 'whether leads of teams get the digest of their team by e-mail', examples: [true] }),
});
export type AlertSettings = z.infer<typeof AlertSettings>;

/** Where alerts and digests of organizations go. */
export const sealedAlerts = new SealedRevisions<AlertSettings>(alertRevisions, {
  empty: () => AlertSettings.parse({}),
  mapSecrets: (settings, replace) => ({
    ...settings,
    ways: settings.ways.map((way) => ({
      ...way,
      url: way.url === null ? null : replace(way.url, ['alerts', way.name, 'url']),
      secret: way.secret === null ? null : replace(way.secret, ['alerts', way.name, 'secret']),
    })),
  }),
  missing: ([, way, member]) =>
    `The ${member} of the way ${way} is masked, but none is stored: send it itself.`,
});

/** Whether nobody is told of a condition on a day. */
export function isMuted({ mutes }: AlertSettings, condition: Condition, today: string): boolean {
  return mutes.some((mute) => mute.condition === condition && (mute.until === null || today <= mute.until));
}
