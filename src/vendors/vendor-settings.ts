import { z } from 'zod';
import { SealedRevisions } from '../controls/sealed-revisions.js';
import { MASK } from '../controls/settings-secrets.js';
import { DaySchema } from '../day.js';
import { nameText } from '../input/name-text.js';
import { vendorRevisions } from '../store/state/vendor-revisions.js';

/** The vendors that can be pulled. */
export const VENDORS = [
  'anthropic',
  'anthropic-enterprise',
  'cursor',
  'github',
  'openai',
  'openai-api',
] as const;
export type VendorName = (typeof VENDORS)[number];

/** What each vendor calls an account, where its addresses have one. */
const ACCOUNTS: Partial<Record<VendorName, readonly [RegExp, string]>> = {
  github: [/^(orgs|enterprises)\/[\w.-]{1,100}$/, 'must be orgs/NAME or enterprises/NAME'],
  openai: [/^[\w-]{1,100}$/, 'must be the id of the workspace'],
};

const Vendor = z
  .strictObject({
    vendor: z.enum(VENDORS).meta({ description: 'whose API it is', examples: ['anthropic'] }),
    key: z.union([z.literal(MASK), z.string().regex(/^[\x21-\x7e]{8,1024}$/, 'must be a key, or ***')]).meta({
      description: 'key of the API, a secret: answers have ***, and *** keeps it',
      examples: ['sk-ant-admin01-abcdef'],
    }),
    account: nameText(200)
      .nullable()
      .default(null)
      .meta({
        description:
          'of GitHub, the organization or enterprise: orgs/acme or enterprises/acme; of OpenAI, the id of the workspace; null for others',
        examples: [null],
      }),
    url: z
      .url({ protocol: /^https?$/, error: 'must be an address such as https://api.anthropic.com' })
      .max(2048)
      .refine((url) => !/[?#]|\/\/[^/]*@/.test(url), 'must be an address such as https://api.anthropic.com')
      .nullable()
      .default(null)
      .meta({
        description:
          "address of the API where it isn't the vendor's own; its host must be in DAYBOOK_VENDOR_HOSTS",
        examples: [null],
      }),
    rosters: z
      .boolean()
      .default(true)
      .meta({ description: 'whether members, seats and teams are fetched too', examples: [true] }),
    since: DaySchema.nullable()
      .default(null)
      .meta({
        description: 'the first day that is fetched; null for as far back as the vendor changes its numbers',
        examples: ['2026-05-01'],
      }),
    bills: z
      .boolean()
      .default(true)
      .meta({
        description: 'whether its bills are fetched too, for which the key may need another permission',
        examples: [true],
      }),
  })
  .superRefine(({ vendor, account }, context) => {
    const [form, words] = ACCOUNTS[vendor] ?? [undefined, 'must be null for this vendor'];
    if (form === undefined ? account !== null : !form.test(account ?? ''))
      context.addIssue({ code: 'custom', path: ['account'], message: words });
  });
export type Vendor = z.infer<typeof Vendor>;

/** What an organization says of the vendors' APIs that are pulled. */
export const VendorSettings = z.strictObject({
  vendors: z
    .array(Vendor)
    .max(VENDORS.length)
    .refine(
      (vendors) => new Set(vendors.map(({ vendor }) => vendor)).size === vendors.length,
      'must not name a vendor twice',
    )
    .default([])
    .meta({ description: 'the APIs that are pulled' }),
});
export type VendorSettings = z.infer<typeof VendorSettings>;

/** Which vendors of organizations are pulled. A key is sealed for the address that it is sent to. */
export const sealedVendors = new SealedRevisions<VendorSettings>(vendorRevisions, {
  empty: () => ({ vendors: [] }),
  mapSecrets: ({ vendors }, replace) => ({
    vendors: vendors.map((one) => ({
      ...one,
      // Settings of before don't have it.
      bills: one.bills ?? true,
      key: replace(one.key, ['vendors', one.vendor, one.url ?? '', 'key']),
    })),
  }),
  missing: ([, vendor]) =>
    `The key of ${vendor} is masked, but none is stored for that address: send it itself.`,
});
