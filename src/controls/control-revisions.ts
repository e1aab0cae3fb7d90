import { z } from 'zod';
import { UsageError } from '../exit.js';
import { Queue } from '../queue.js';
import type { Row, Store } from '../store/store.js';
import { withoutCredentials } from '../url-credentials.js';
import { AllowedAddresses } from './allowed-addresses.js';
import { MASK, mapSecrets, type Settings } from './control-settings.js';
import type { SecretKey } from './secret-key.js';
import { type Difference, differencesOf } from './settings-difference.js';

/** Who makes a change. What isn't known is ''. */
export interface Author {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** The settings after a change (public-api.md 2.8), secrets masked. Before the first one revision 0, and nobody's. */
export interface Change {
  readonly revision: number;
  readonly settings: Settings;
  readonly user: Author | null;
  /** RFC 3339. */
  readonly updatedAt: string | null;
}

/** The settings that are to be changed have been changed since they were read. */
export class Stale extends UsageError {
  override name = 'Stale';
}

/** How much the settings may have, in bytes of JSON, secrets encrypted. */
export const SETTINGS_BYTES = 256 << 10;

/** What one parameter of a statement may have, in characters: ClickHouse takes 128 KiB. */
const PARAMETER_CHARACTERS = 30_000;

/** How long it may take until a change that another process made is obeyed. */
const HOLDS_MS = 5000;

/** What is known of an organization's settings without asking. */
interface Known {
  readonly at: number;
  readonly addresses: Promise<AllowedAddresses>;
}

/** What the processes' parts that share a store share of it: who changes settings has the others ask again. */
const shared = new WeakMap<Store, { readonly queue: Queue; readonly known: Map<string, Known> }>();

const Stored = z.custom<Settings>((value) => typeof value === 'object' && value !== null);

const COLUMNS = 'revision, settings, user_id, user_email, user_name, updated_at';

/** The settings of a row as they are stored, secrets sealed. */
function storedOf(row: Row | undefined): Settings {
  return row === undefined ? {} : Stored.parse(JSON.parse(String(row.settings)));
}

function changeOf(row: Row | undefined): Change {
  if (row === undefined) return { revision: 0, settings: {}, user: null, updatedAt: null };
  return {
    revision: Number(row.revision),
    // Earlier versions took addresses with passwords.
    settings: Stored.parse(
      JSON.parse(withoutCredentials(JSON.stringify(mapSecrets(storedOf(row), () => MASK)))),
    ),
    user: { id: String(row.user_id), email: String(row.user_email), name: String(row.user_name) },
    updatedAt: new Date(Number(row.updated_at)).toISOString(),
  };
}

/** What organizations control, and every change of it (decisions.md, Enterprise controls). */
export class Controls {
  constructor(
    private readonly store: Store,
    private readonly key: SecretKey,
    private readonly clock: () => number,
  ) {}

  private get shared() {
    const found = shared.get(this.store) ?? { queue: new Queue(), known: new Map<string, Known>() };
    shared.set(this.store, found);
    return found;
  }

  private async rowOf(orgId: string, revision?: number): Promise<Row | undefined> {
    const [row] = await this.store.select(
      `SELECT ${COLUMNS} FROM control_revisions
      WHERE org_id = $org_id AND revision = coalesce($revision, revision)
      ORDER BY revision DESC LIMIT 1`,
      { org_id: orgId, revision: revision ?? null },
    );
    return row;
  }

  /** The newest settings. */
  async current(orgId: string): Promise<Change> {
    return changeOf(await this.rowOf(orgId));
  }

  /** The newest changes of those before a revision, newest first, and whether there are more. */
  async history(
    orgId: string,
    limit: number,
    before = Number.MAX_SAFE_INTEGER,
  ): Promise<{ changes: Change[]; hasMore: boolean }> {
    const rows = await this.store.select(
      `SELECT ${COLUMNS} FROM control_revisions WHERE org_id = $org_id AND revision < $before
      ORDER BY revision DESC LIMIT ${limit + 1}`,
      { org_id: orgId, before },
    );
    return { changes: rows.slice(0, limit).map(changeOf), hasMore: rows.length > limit };
  }

  /**
   * Replaces the settings whole, as a new revision, and answers that. A secret that is masked stays as it is. Throws Stale
   * when the newest revision is not one that `isExpected` takes, and a UsageError for settings that can't be: a masked secret
   * where there is none, or allowed addresses without the author's own, if `address` says which that is.
   */
  replace(
    orgId: string,
    settings: Settings,
    author: Author,
    {
      isExpected = () => true,
      address,
    }: { isExpected?: (revision: number) => boolean; address?: string } = {},
  ): Promise<Change> {
    return this.shared.queue.run(async () => {
      const row = await this.rowOf(orgId);
      const revision = Number(row?.revision ?? 0);
      if (!isExpected(revision))
        throw new Stale(`The newest revision is ${revision}, not the expected one: read it again.`);
      if (address !== undefined && !addressesOf(settings).has(address))
        throw new UsageError(
          `The member settings.networkPolicy.allowedIps must include your own address, ${address}, or you would lock yourself out.`,
        );
      const text = JSON.stringify(this.seal(orgId, settings, storedOf(row)));
      if (Buffer.byteLength(text) > SETTINGS_BYTES)
        throw new UsageError(
          `The settings must have at most ${SETTINGS_BYTES} bytes with encrypted secrets.`,
        );
      await this.insert(orgId, revision + 1, text, author);
      this.shared.known.delete(orgId);
      return changeOf(await this.rowOf(orgId, revision + 1));
    });
  }

  /** The settings with secrets sealed. One that is masked, or that is the same as before, is what it was. */
  private seal(orgId: string, settings: Settings, before: Settings): Settings {
    const stored = new Map<string, string>();
    mapSecrets(before, (value, place) => stored.set(JSON.stringify(place), String(value)));
    return mapSecrets(settings, (value, place) => {
      const whole = [orgId, ...place];
      const old = stored.get(JSON.stringify(place));
      const known = old === undefined ? undefined : this.key.open(old, whole);
      if (value === MASK && known === undefined)
        throw new UsageError(
          `The member settings.${place.join('.').slice(0, 100)} is masked, but no secret is stored for it: send the secret itself.`,
        );
      return value === MASK || JSON.stringify(known) === JSON.stringify(value)
        ? old
        : this.key.seal(value, whole);
    });
  }

  private async insert(orgId: string, revision: number, settings: string, author: Author): Promise<void> {
    const parts = settings.match(new RegExp(`[^]{1,${PARAMETER_CHARACTERS}}`, 'gu')) ?? [];
    await this.store.run([
      {
        sql: `INSERT INTO control_revisions SELECT $org_id, CAST($revision AS BIGINT),
          ${parts.map((_, part) => `$settings_${part}`).join(' || ')}, $user_id, $user_email, $user_name, instant($now)`,
        parameters: {
          org_id: orgId,
          revision,
          ...Object.fromEntries(parts.map((text, part) => [`settings_${part}`, text])),
          user_id: author.id,
          user_email: author.email,
          user_name: author.name,
          now: this.clock(),
        },
      },
    ]);
  }

  /** What a revision changed in another one. Throws a UsageError for a revision that there is not. */
  async difference(orgId: string, from: number, to: number): Promise<Difference[]> {
    const [older = {}, newer = {}] = await Promise.all(
      [from, to].map(async (revision) => {
        const row = revision === 0 ? undefined : await this.rowOf(orgId, revision);
        if (revision !== 0 && row === undefined)
          throw new UsageError(`There is no revision ${revision}: "daybook controls history" lists them.`);
        return storedOf(row);
      }),
    );
    return differencesOf(older, newer);
  }

  /** Whether a request of the organization may come from an address. A change is obeyed at once, another process's soon. */
  async isAllowed(orgId: string, address: string): Promise<boolean> {
    const { known } = this.shared;
    let found = known.get(orgId);
    if (found === undefined || this.clock() - found.at >= HOLDS_MS) {
      const asked = {
        at: this.clock(),
        addresses: this.rowOf(orgId).then((row) => addressesOf(storedOf(row))),
      };
      known.set(orgId, asked);
      asked.addresses.catch(() => {
        if (known.get(orgId) === asked) known.delete(orgId);
      });
      found = asked;
    }
    return (await found.addresses).has(address);
  }
}

function addressesOf({ networkPolicy }: Settings): AllowedAddresses {
  return new AllowedAddresses(networkPolicy?.allowedIps ?? []);
}

/** The newest settings of every organization that has some. */
function newestOf(store: Store): Promise<Row[]> {
  return store.select(
    `SELECT org_id, settings FROM control_revisions
    WHERE (org_id, revision) IN (SELECT org_id, max(revision) FROM control_revisions GROUP BY org_id)`,
  );
}

/** Whether the settings of any organization have a secret, which can be read with the installation's key only. */
export async function hasSecrets(store: Store): Promise<boolean> {
  let secrets = 0;
  for (const row of await newestOf(store))
    mapSecrets(storedOf(row), () => {
      secrets += 1;
    });
  return secrets > 0;
}

/** How many days old the raw events of an organization may get, where its settings say. */
export async function retentionDaysOf(store: Store): Promise<Map<string, number>> {
  const rows = await newestOf(store);
  const days = new Map<string, number>();
  for (const row of rows) {
    const { sessionRetentionDays } = storedOf(row);
    if (sessionRetentionDays !== undefined) days.set(String(row.org_id), sessionRetentionDays);
  }
  return days;
}
