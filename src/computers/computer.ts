import { hash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { ApiError } from '../api/errors.js';
import { NO_CONTROLS, nameText, Uuid } from '../input/name-text.js';
import { hasCredentials, withoutCredentials } from '../network/url-credentials.js';
import { inTurn } from '../store/state/of-store.js';
import { userOf } from '../store/state/person.js';
import type { Parameters, Row, Store } from '../store/store.js';
import { ulid } from '../ulid.js';
import { Steps, stepsFor } from './provisioning-step.js';

export const Provider = z.enum(['byom', 'e2b']);
export const Status = z.enum(['active', 'provisioning', 'error']);
export const OwnerKind = z.enum(['human', 'service']);

const A_NAME = 'must be 1 to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends';
export const Name = z
  .string()
  .max(63, A_NAME)
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, A_NAME)
  .meta({ description: 'unique in the organization', examples: ['box'] });

export const RemoteUser = nameText(63).meta({ description: 'the user on the machine', examples: ['ada'] });
export const HostId = Uuid.meta({
  description: 'UUID of the machine, in any case; unique in the organization',
  examples: ['6f1c9a52-3b1e-4c59-9f6a-0d2f6a1b7c11'],
});

const sourceOf = (templateId: z.ZodString, computerId: z.ZodString) =>
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('scratch') }),
    z.strictObject({ kind: z.literal('template'), templateId }),
    z.strictObject({ kind: z.literal('computer'), computerId }),
  ]);

/** The source of a computer. */
export const Source = sourceOf(nameText(2048), nameText(128)).meta({
  description: 'what the computer is created from',
  examples: [{ kind: 'scratch' }],
});

/** The same in the database, without today's rules: what older rules allowed must stay readable. */
const StoredSource = sourceOf(z.string(), z.string());

const A_REPO =
  'must be an address of a repository that begins with http://, https:// or ssh://, or is user@host:path';

const NO_CREDENTIALS =
  "must not have a password or token: set up git's credential helper or an SSH key on the computer instead";

/** The address of a repository. It becomes an argument of a program, so it must not look like an option. */
const Repo = z
  .string()
  .max(2048)
  .regex(/^(https?|ssh):\/\/[^\s/?#-][^\s]*$|^[\w.-]+@[\w][\w.-]*:[^\s:][^\s]*$/, A_REPO)
  .regex(...NO_CONTROLS)
  .refine((repo) => !hasCredentials(repo), NO_CREDENTIALS)
  .refine((repo) => !repo.includes('://') || URL.canParse(repo), A_REPO)
  .meta({ examples: ['https://git.acme.example/api.git'] });

/** The body of a request to create a computer (docs/computers.md, "Create a computer"). */
export const NewComputer = z
  .strictObject({
    name: Name,
    provider: Provider.optional(),
    hostId: HostId.optional(),
    remoteUser: RemoteUser.optional(),
    repos: z.array(Repo).max(20).meta({ description: 'repositories to clone' }).optional(),
    autoInstallDeps: z
      .boolean()
      .meta({ description: 'whether to install the dependencies in their lock files', examples: [true] })
      .optional(),
    serviceAccountId: nameText(2048)
      .meta({ description: 'service account that owns the computer; for managers and owners' })
      .optional(),
    source: Source.optional(),
  })
  .superRefine(({ remoteUser, source }, context) => {
    if (remoteUser === undefined && source === undefined)
      context.addIssue({
        code: 'custom',
        path: ['remoteUser'],
        message: 'must be the user on the machine, unless there is a source',
      });
  })
  .meta({ examples: [{ name: 'box', remoteUser: 'ada', repos: ['https://git.acme.example/api.git'] }] });
export type NewComputer = z.infer<typeof NewComputer>;

/** The fields that can be changed later. */
export const Change = z
  .strictObject({
    name: Name.optional(),
    remoteUser: RemoteUser.optional(),
    hostId: HostId.optional(),
  })
  .meta({ examples: [{ name: 'desk' }] });
export type Change = z.infer<typeof Change>;

/** The owner of a computer: a person, or a service account, such as a key without a user. */
export interface Owner {
  readonly kind: z.infer<typeof OwnerKind>;
  readonly id: string;
}

/** A computer of an organization. Instants are Unix milliseconds. */
export type Computer = Readonly<ReturnType<typeof toComputer>>;

/** The error for a name or hostId that the organization already uses. */
function taken(member: 'name' | 'hostId', value: string): ApiError {
  return new ApiError(
    409,
    `This organization already has a computer with the ${member} ${value}: choose another.`,
  );
}

const COLUMNS =
  'computer_id, org_id, name, provider_type, status, owner_kind, owner_id, host_id, hostname, remote_user, repos, auto_install_deps, source, steps, provider_ref, created_at';

const NullableText = z.string().nullable();

function reposOf(row: Row): string[] {
  return z
    .array(z.string())
    .parse(JSON.parse(String(row.repos)))
    .map(withoutCredentials);
}

function stepsOf(row: Row): Steps {
  return Steps.parse(JSON.parse(String(row.steps))).map((step) =>
    step.error === undefined ? step : { ...step, error: withoutCredentials(step.error) },
  );
}

function toComputer(row: Row) {
  const source = NullableText.parse(row.source);
  return {
    id: String(row.computer_id),
    orgId: String(row.org_id),
    name: String(row.name),
    provider: Provider.parse(row.provider_type),
    status: Status.parse(row.status),
    owner: { kind: OwnerKind.parse(row.owner_kind), id: String(row.owner_id) } satisfies Owner,
    hostId: NullableText.parse(row.host_id),
    hostname: NullableText.parse(row.hostname),
    remoteUser: NullableText.parse(row.remote_user),
    repos: reposOf(row),
    autoInstallDeps: row.auto_install_deps === true,
    source: source === null ? null : StoredSource.parse(JSON.parse(source)),
    steps: stepsOf(row),
    providerRef: NullableText.parse(row.provider_ref),
    createdAt: Number(row.created_at),
  };
}

function newToken(): string {
  return `dba_${randomBytes(32).toString('base64url')}`;
}

/** The computers of all organizations. Those of one change one after the other. */
export class Computers {
  constructor(
    private readonly store: Store,
    private readonly clock: () => number,
    /** Called with the id of each computer that has changed. */
    private readonly changed: (id: string) => void = () => {},
  ) {}

  /**
   * Creates a computer. Only this answer has the agent token: the store keeps its SHA-256. An existing machine is active at once,
   * any other one as soon as its provider has made it. Throws 409 for a name or hostId that is taken.
   */
  create(
    orgId: string,
    owner: Owner,
    wanted: NewComputer,
  ): Promise<{ computer: Computer; agentToken: string }> {
    return this.inTurn(orgId, async (turn) => {
      const now = this.clock();
      const { provider = 'byom', repos = [], autoInstallDeps = false } = wanted;
      const isThere = provider === 'byom';
      const computer: Computer = {
        id: `cmp_${ulid(now)}`,
        orgId,
        name: wanted.name,
        provider,
        status: isThere ? 'active' : 'provisioning',
        owner,
        hostId: wanted.hostId ?? null,
        hostname: null,
        remoteUser: wanted.remoteUser ?? null,
        repos,
        autoInstallDeps,
        source: wanted.source ?? null,
        steps: stepsFor({ isThere, hasRepos: repos.length > 0, autoInstallDeps }, now),
        providerRef: null,
        createdAt: now,
      };
      await this.requireUnique(turn, computer);
      const agentToken = newToken();
      await turn.run([
        {
          sql: `INSERT INTO computers (${COLUMNS}, token_hash)
            SELECT $computer_id, $org_id, $name, $provider_type, $status, $owner_kind, $owner_id, $host_id, $hostname,
              $remote_user, $repos, $auto_install_deps = 1, $source, $steps, $provider_ref, instant($created_at), $token_hash`,
          parameters: {
            ...changing(computer),
            computer_id: computer.id,
            org_id: orgId,
            provider_type: provider,
            owner_kind: owner.kind,
            owner_id: owner.id,
            repos: JSON.stringify(computer.repos),
            auto_install_deps: computer.autoInstallDeps ? 1 : 0,
            source: computer.source === null ? null : JSON.stringify(computer.source),
            created_at: now,
            token_hash: hash('sha256', agentToken),
          },
        },
      ]);
      return { computer, agentToken };
    });
  }

  /** The computers of an organization, newest first. */
  async list(orgId: string, hostIds?: readonly string[]): Promise<Computer[]> {
    return this.read(
      'org_id = $org_id AND ($host_id IS NULL OR host_id IN $host_id) ORDER BY created_at DESC, computer_id DESC',
      { org_id: orgId, host_id: hostIds ?? null },
    );
  }

  /** A computer of an organization, by its id or its name; undefined when it has none. */
  async find(orgId: string, by: { id: string } | { name: string }): Promise<Computer | undefined> {
    const [column, value] = 'id' in by ? ['computer_id', by.id] : ['name', by.name];
    const [found] = await this.read(`org_id = $org_id AND ${column} = $value`, { org_id: orgId, value });
    return found;
  }

  /** The computer that has this agent token; undefined if none has. */
  async findByToken(token: string): Promise<Computer | undefined> {
    if (!/^dba_[A-Za-z0-9_-]{43}$/.test(token)) return undefined;
    const [found] = await this.read('token_hash = $hash', { hash: hash('sha256', token) });
    return found;
  }

  /** Replaces the agent token of a computer, and answers the new one; undefined if it is gone or `isFit` is false of its current state. */
  renewToken(
    { orgId, id }: Pick<Computer, 'orgId' | 'id'>,
    isFit: (computer: Computer) => boolean,
  ): Promise<string | undefined> {
    return this.inTurn(orgId, async (turn) => {
      const [found] = await this.read('org_id = $org_id AND computer_id = $id', { org_id: orgId, id }, turn);
      if (found === undefined || !isFit(found)) return undefined;
      const token = newToken();
      await turn.run([
        {
          sql: 'UPDATE computers SET token_hash = $token_hash WHERE computer_id = $computer_id',
          parameters: { computer_id: id, token_hash: hash('sha256', token) },
        },
      ]);
      return token;
    });
  }

  /** The computers whose provisioning is under way, of all organizations. */
  async provisioning(): Promise<Computer[]> {
    return this.read("status = 'provisioning' ORDER BY created_at, computer_id");
  }

  /** The computers that a condition chooses. One of a person's alias is the person's. */
  private async read(where: string, parameters: Parameters = {}, store = this.store): Promise<Computer[]> {
    const rows = await store.select(`SELECT ${COLUMNS} FROM computers WHERE ${where}`, parameters);
    return Promise.all(
      rows.map(toComputer).map(async ({ owner: { kind, id }, ...computer }) => ({
        ...computer,
        owner: { kind, id: kind === 'human' ? await userOf(store, computer.orgId, id) : id },
      })),
    );
  }

  /** Changes a computer's current state, and answers the new one; undefined if it is gone. Throws 409 as create does. */
  async change(
    { orgId, id }: Pick<Computer, 'orgId' | 'id'>,
    to: (computer: Computer) => Partial<Computer>,
  ): Promise<Computer | undefined> {
    const { computer, isChanged } = await this.inTurn(orgId, async (turn) => {
      const [found] = await this.read('org_id = $org_id AND computer_id = $id', { org_id: orgId, id }, turn);
      if (found === undefined) return { computer: undefined, isChanged: false };
      const changed: Computer = { ...found, ...to(found) };
      const parameters = changing(changed);
      if (JSON.stringify(parameters) === JSON.stringify(changing(found)))
        return { computer: found, isChanged: false };
      if (changed.name !== found.name || changed.hostId !== found.hostId)
        await this.requireUnique(turn, changed);
      await turn.run([
        {
          sql: `UPDATE computers SET name = $name, status = $status, host_id = $host_id, hostname = $hostname,
            remote_user = $remote_user, steps = $steps, provider_ref = $provider_ref WHERE computer_id = $computer_id`,
          parameters: { ...parameters, computer_id: id },
        },
      ]);
      return { computer: changed, isChanged: true };
    });
    if (isChanged) this.changed(id);
    return computer;
  }

  delete({ orgId, id }: Pick<Computer, 'orgId' | 'id'>): Promise<void> {
    return this.inTurn(orgId, (turn) =>
      turn.run([
        { sql: 'DELETE FROM computers WHERE computer_id = $computer_id', parameters: { computer_id: id } },
      ]),
    );
  }

  private inTurn<T>(orgId: string, work: (turn: Store) => Promise<T>): Promise<T> {
    return inTurn(this.store, `computers ${orgId}`, work);
  }

  private async requireUnique(turn: Store, { orgId, id, name, hostId }: Computer): Promise<void> {
    const others = await turn.select(
      'SELECT name, host_id FROM computers WHERE org_id = $org_id AND computer_id <> $computer_id AND (name = $name OR host_id = $host_id)',
      { org_id: orgId, computer_id: id, name, host_id: hostId },
    );
    if (others.some((other) => other.name === name)) throw taken('name', name);
    if (hostId !== null && others.length > 0) throw taken('hostId', hostId);
  }
}

/** The columns of a computer that can change. */
function changing({ name, status, hostId, hostname, remoteUser, steps, providerRef }: Computer) {
  return {
    name,
    status,
    host_id: hostId,
    hostname,
    remote_user: remoteUser,
    steps: JSON.stringify(steps),
    provider_ref: providerRef,
  };
}
