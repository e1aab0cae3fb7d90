import { UsageError } from '../exit.js';
import type { Revision, Revisions, SettingsChange } from '../store/state/revisions.js';
import type { Store } from '../store/store.js';
import type { SecretKey } from './secret-key.js';
import { MASK } from './settings-secrets.js';

/** Gives another value for a secret, by its place in the settings. */
type Replace = (value: string, place: readonly string[]) => string;

/** Settings that have secrets. */
interface WithSecrets<Settings> {
  /** Those before the first change. */
  readonly empty: () => Settings;
  /** The settings with another value for each secret. */
  readonly mapSecrets: (settings: Settings, replace: Replace) => Settings;
  /** The sentence for a masked secret of which none is stored. */
  readonly missing: (place: readonly string[]) => string;
}

/** Settings of organizations whose secrets are stored encrypted, and come masked. */
export class SealedRevisions<Settings> {
  constructor(
    private readonly revisions: Revisions,
    private readonly form: WithSecrets<Settings>,
  ) {}

  private storedOf(document: string): Settings {
    return document === '' ? this.form.empty() : (JSON.parse(document) as Settings);
  }

  private masked({ document, ...revision }: Revision): SettingsChange<Settings> {
    return { ...revision, settings: this.form.mapSecrets(this.storedOf(document), () => MASK) };
  }

  /** The newest settings, without secrets. */
  async newest(store: Store, orgId: string): Promise<SettingsChange<Settings>> {
    return this.masked(await this.revisions.newest(store, orgId));
  }

  /** The newest settings with secrets; '' for one that can't be decrypted, because the key of the installation is another one. */
  async open(store: Pick<Store, 'select'>, orgId: string, key: SecretKey): Promise<Settings> {
    const { document } = await this.revisions.newest(store, orgId);
    return this.form.mapSecrets(this.storedOf(document), (sealed, place) =>
      String(key.open(sealed, [orgId, ...place]) ?? ''),
    );
  }

  /** Whether a key decrypts all secrets of the newest settings. */
  async areOpenTo(store: Pick<Store, 'select'>, orgId: string, key: SecretKey): Promise<boolean> {
    const { document } = await this.revisions.newest(store, orgId);
    let areOpen = true;
    this.form.mapSecrets(this.storedOf(document), (sealed, place) => {
      areOpen &&= key.open(sealed, [orgId, ...place]) !== undefined;
      return sealed;
    });
    return areOpen;
  }

  /** The newest changes, the newest one first, without secrets. */
  async history(store: Store, orgId: string, limit: number): Promise<SettingsChange<Settings>[]> {
    return (await this.revisions.history(store, orgId, limit)).map((one) => this.masked(one));
  }

  /** Changes the settings. `check` gets the newest revision, and throws if it may not be changed. Throws a UsageError for *** where there is no secret. */
  async change(
    store: Store,
    orgId: string,
    settings: Settings,
    key: SecretKey,
    author: string,
    now: number,
    check: (revision: number) => void = () => {},
  ): Promise<SettingsChange<Settings>> {
    const { mapSecrets, missing } = this.form;
    const make = (before: Revision) => {
      check(before.revision);
      const stored = new Map<string, string>();
      mapSecrets(this.storedOf(before.document), (sealed, place) => {
        stored.set(JSON.stringify(place), sealed);
        return sealed;
      });
      const sealed = mapSecrets(settings, (value, place) => {
        const old = stored.get(JSON.stringify(place));
        const known = old === undefined ? undefined : key.open(old, [orgId, ...place]);
        if (value === MASK && known === undefined) throw new UsageError(missing(place));
        return old !== undefined && (value === MASK || value === known)
          ? old
          : key.seal(value, [orgId, ...place]);
      });
      return JSON.stringify(sealed);
    };
    return this.masked(await this.revisions.change(store, orgId, make, author, now));
  }
}
