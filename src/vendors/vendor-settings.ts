import { z } from 'zod';
import type { SecretKey } from '../controls/secret-key.js';
import { MASK } from '../controls/settings-secrets.js';
import { DaySchema } from '../day.js';
import { UsageError } from '../exit.js';
import { nameText } from '../input/name-text.js';
import type { Revision } from '../store/state/revisions.js';
import { vendorRevisions } from '../store/state/vendor-revisions.js';
import type { Store } from '../store/store.js';

/** The vendors that can be pulled. */
export const VENDORS = ['anthropic', 'cursor', 'github', 'openai'] as const;
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
    since: DaySchema.nullable()
      .default(null)
      .meta({
        description: 'the first day that is fetched; null for as far back as the vendor changes its numbers',
        examples: ['2026-05-01'],
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

/** The settings after a change. */
export interface VendorChange extends Omit<Revision, 'document'> {
  readonly settings: VendorSettings;
}

/** The settings with another value for each key. A key is sealed for the address that it is sent to. */
function mapKeys(
  settings: VendorSettings,
  replace: (value: string, place: readonly string[]) => string,
): VendorSettings {
  return {
    vendors: settings.vendors.map((one) => ({
      ...one,
      key: replace(one.key, ['vendors', one.vendor, one.url ?? '', 'key']),
    })),
  };
}

function storedOf({ document }: Pick<Revision, 'document'>): VendorSettings {
  return document === '' ? { vendors: [] } : (JSON.parse(document) as VendorSettings);
}

function maskedOf({ document, ...revision }: Revision): VendorChange {
  return { ...revision, settings: mapKeys(storedOf({ document }), () => MASK) };
}

/** The newest settings, without keys. */
export async function vendorSettings(store: Store, orgId: string): Promise<VendorChange> {
  return maskedOf(await vendorRevisions.newest(store, orgId));
}

/** The newest settings with keys; '' for one that can't be decrypted, because the key of the installation is another one. */
export async function openVendorSettings(
  store: Pick<Store, 'select'>,
  orgId: string,
  key: SecretKey,
): Promise<VendorSettings> {
  const stored = storedOf(await vendorRevisions.newest(store, orgId));
  return mapKeys(stored, (sealed, place) => String(key.open(sealed, [orgId, ...place]) ?? ''));
}

/** The newest changes, the newest one first, without keys. */
export async function vendorHistory(store: Store, orgId: string, limit: number): Promise<VendorChange[]> {
  return (await vendorRevisions.history(store, orgId, limit)).map(maskedOf);
}

/** Changes the settings. `check` gets the newest revision, and throws if it may not be changed. Throws a UsageError for *** where there is no key. */
export async function changeVendorSettings(
  store: Store,
  orgId: string,
  settings: VendorSettings,
  key: SecretKey,
  author: string,
  now: number,
  check: (revision: number) => void = () => {},
): Promise<VendorChange> {
  const make = (before: Revision) => {
    check(before.revision);
    const stored = new Map<string, string>();
    mapKeys(storedOf(before), (sealed, place) => {
      stored.set(JSON.stringify(place), sealed);
      return sealed;
    });
    const sealed = mapKeys(settings, (value, place) => {
      const old = stored.get(JSON.stringify(place));
      const known = old === undefined ? undefined : key.open(old, [orgId, ...place]);
      if (value === MASK && known === undefined)
        throw new UsageError(
          `The key of ${place[1]} is masked, but none is stored for that address: send it itself.`,
        );
      return old !== undefined && (value === MASK || value === known)
        ? old
        : key.seal(value, [orgId, ...place]);
    });
    return JSON.stringify(sealed);
  };
  return maskedOf(await vendorRevisions.change(store, orgId, make, author, now));
}
