import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { Stale } from '../api/revision-tag.js';
import { UsageError } from '../exit.js';
import { joinTeams } from '../people/group-teams.js';
import { whenErased } from '../store/state/erased-names.js';
import { inTurn, OfOrganizations } from '../store/state/of-store.js';
import { inPeopleTurn } from '../store/state/person.js';
import type { Row, Store } from '../store/store.js';
import { AllowedAddresses } from './allowed-addresses.js';
import type { Settings } from './control-settings.js';
import type { SecretKey } from './secret-key.js';
import { type Difference, differencesOf } from './settings-difference.js';
import { MASK, mapSecrets } from './settings-secrets.js';

/** The author of a change; unknown members are ''. */
export interface Author {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** The settings after a change, with masked secrets. Before the first change: revision 0, without an author. */
export interface Change {
  readonly revision: number;
  readonly settings: Settings;
  readonly user: Author | null;
  /** RFC 3339. */
  readonly updatedAt: string | null;
}

/** The organization has no such revision. */
export class NoRevision extends UsageError {
  override name = 'NoRevision';

  constructor(
    message: string,
    readonly revision: number,
  ) {
    super(message);
  }
}

/** The largest settings, in bytes of JSON with encrypted secrets. */
export const SETTINGS_BYTES = 256 << 10;

/** The longest parameter of a statement, in characters: ClickHouse takes 128 KiB. */
const PARAMETER_CHARACTERS = 30_000;

/** How long it can take until the change of a process applies here that has no part in the store's state. */
const HOLDS_MS = 5000;

/** An organization's settings in memory. */
interface Known {
  readonly at: number;
  readonly addresses: AllowedAddresses;
}

/** The settings in memory of each store's organizations. After a change, all users of the store read them again. */
const known = new OfOrganizations<Known>(['control_revisions']);
whenErased((store) => known.drop(store));

const Stored = z.custom<Settings>((value) => typeof value === 'object' && value !== null);

const COLUMNS = 'revision, settings, user_id, user_email, user_name, updated_at';

/** The stored settings of a row, with sealed secrets. */
function storedOf(row: Row | undefined): Settings {
  return row === undefined ? {} : Stored.parse(JSON.parse(String(row.settings)));
}

function changeOf(row: Row | undefined): Change {
  if (row === undefined) return { revision: 0, settings: {}, user: null, updatedAt: null };
  return {
    revision: Number(row.revision),
    settings: mapSecrets(storedOf(row), () => MASK),
    user: { id: String(row.user_id), email: String(row.user_email), name: String(row.user_name) },
    updatedAt: new Date(Number(row.updated_at)).toISOString(),
  };
}

/** Organizations' controls and every change of them (docs/controls.md). */
export class Controls {
  constructor(
    private readonly store: Store,
    private readonly key: SecretKey,
    private readonly clock: () => number,
  ) {}

  private async rowOf(orgId: string, revision?: number, store = this.store): Promise<Row | undefined> {
    const [row] = await store.select(
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

  /** The newest changes before a revision, newest first, and whether there are more. */
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
   * Replaces all settings by a new revision and returns it. A masked secret stays as it is. People join the teams of a new table of groups.
   * Throws Stale if `isExpected` doesn't accept the newest revision, and a UsageError for invalid settings: a masked secret without a stored one, or allowed addresses without
   * the author's own, if `address` gives it.
   */
  async replace(
    orgId: string,
    settings: Settings,
    author: Author,
    {
      isExpected = () => true,
      address,
    }: { isExpected?: (revision: number) => boolean; address?: string } = {},
  ): Promise<Change> {
    const [before, after] = await inTurn(this.store, `control_revisions ${orgId}`, async (turn) => {
      const row = await this.rowOf(orgId, undefined, turn);
      const revision = Number(row?.revision ?? 0);
      if (!isExpected(revision)) throw new Stale(revision);
      if (address !== undefined && !addressesOf(settings).has(address))
        throw new UsageError(
          `The member settings.networkPolicy.allowedIps must include your own address, ${address}, or you would lock yourself out.`,
        );
      const text = JSON.stringify(this.seal(orgId, settings, storedOf(row)));
      if (Buffer.byteLength(text) > SETTINGS_BYTES)
        throw new UsageError(
          `The settings must have at most ${SETTINGS_BYTES} bytes with encrypted secrets.`,
        );
      await this.insert(turn, orgId, revision + 1, text, author);
      known.drop(turn, orgId);
      return [row, await this.rowOf(orgId, revision + 1, turn)];
    });
    if (!isDeepStrictEqual(storedOf(before).people?.groups, settings.people?.groups))
      await inPeopleTurn(this.store, orgId, (turn) => joinTeams(turn, orgId, author.id, this.clock()));
    return changeOf(after);
  }

  /** The settings with sealed secrets. Masked and unchanged secrets keep their ciphertext. */
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

  private async insert(
    turn: Store,
    orgId: string,
    revision: number,
    settings: string,
    author: Author,
  ): Promise<void> {
    const parts = settings.match(new RegExp(`[^]{1,${PARAMETER_CHARACTERS}}`, 'gu')) ?? [];
    await turn.run([
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

  /** The differences between two revisions. Throws NoRevision if there is none of a number. */
  async difference(orgId: string, from: number, to: number): Promise<Difference[]> {
    const settingsOf = async (revision: number) => {
      const row = revision === 0 ? undefined : await this.rowOf(orgId, revision);
      if (revision !== 0 && row === undefined)
        throw new NoRevision(
          `There is no revision ${revision}: "daybook controls history" lists them.`,
          revision,
        );
      return storedOf(row);
    };
    // In order, so that if both are missing the error always names the same one.
    const older = await settingsOf(from);
    const newer = await settingsOf(to);
    return differencesOf(older, newer);
  }

  /** Whether requests of the organization may come from an address. Changes of this process apply at once, others soon. */
  async isAllowed(orgId: string, address: string): Promise<boolean> {
    const read = async () => {
      const at = this.clock();
      return { at, addresses: addressesOf(storedOf(await this.rowOf(orgId))) };
    };
    let found = await known.get(this.store, orgId, read);
    if (Math.abs(this.clock() - found.at) >= HOLDS_MS) {
      known.drop(this.store, orgId);
      found = await known.get(this.store, orgId, read);
    }
    return found.addresses.has(address);
  }
}

function addressesOf({ networkPolicy }: Settings): AllowedAddresses {
  return new AllowedAddresses(networkPolicy?.allowedIps ?? []);
}

/** The newest settings of each organization that has any. */
function newestOf(store: Store): Promise<Row[]> {
  return store.select(
    `SELECT org_id, settings FROM control_revisions
    WHERE (org_id, revision) IN (SELECT org_id, max(revision) FROM control_revisions GROUP BY org_id)`,
  );
}

/** Whether any organization's settings have a secret, which only the installation's key can decrypt. */
export async function hasSecrets(store: Store): Promise<boolean> {
  let secrets = 0;
  for (const row of await newestOf(store))
    mapSecrets(storedOf(row), () => {
      secrets += 1;
    });
  return secrets > 0;
}

/** Whether a key decrypts all of these secrets. */
export async function areSecretsOpenTo(store: Store, key: SecretKey): Promise<boolean> {
  let areOpen = true;
  for (const row of await newestOf(store))
    mapSecrets(storedOf(row), (value, place) => {
      areOpen &&= key.open(String(value), [String(row.org_id), ...place]) !== undefined;
    });
  return areOpen;
}

/** How many days raw events are kept, for each organization whose settings say so. */
export async function retentionDaysOf(store: Store): Promise<Map<string, number>> {
  const rows = await newestOf(store);
  const days = new Map<string, number>();
  for (const row of rows) {
    const { sessionRetentionDays } = storedOf(row);
    if (sessionRetentionDays !== undefined) days.set(String(row.org_id), sessionRetentionDays);
  }
  return days;
}
