import { randomUUID } from 'node:crypto';
import { Uuid } from '../input/name-text.js';
import type { Row, Store } from '../store/store.js';

/** How long a transfer can be used, in milliseconds. */
export const LIFE_MS = 15 * 60_000;
/** How long a transfer is remembered after that, so that a repeated call gets the same answer. */
const MEMORY_MS = 7 * 86_400_000;
/** How long an uncompleted transfer is kept after it expires: a call that came in time may be under way. */
const GRACE_MS = 3_600_000;

export const TransferId = Uuid.meta({
  description: 'id of the transfer, in any case',
  examples: ['0b0e5c5a-6d0f-4a57-9a0c-3c1f0c2f5c10'],
});

/** A file on its way to a computer. Instants are Unix milliseconds. */
export type Transfer = Readonly<ReturnType<typeof toTransfer>>;

const COLUMNS =
  'transfer_id, org_id, computer_id, file_name, size_bytes, created_at, expires_at, completed_at IS NOT NULL AS is_completed';

function toTransfer(row: Row) {
  return {
    id: String(row.transfer_id),
    orgId: String(row.org_id),
    computerId: String(row.computer_id),
    fileName: String(row.file_name),
    sizeBytes: Number(row.size_bytes),
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    isCompleted: Boolean(row.is_completed),
  };
}

/** The transfers of all organizations. */
export class Transfers {
  constructor(
    private readonly store: Store,
    private readonly clock: () => number,
  ) {}

  async create(
    wanted: Pick<Transfer, 'orgId' | 'computerId' | 'fileName' | 'sizeBytes'>,
    contentType: string | undefined,
  ): Promise<Transfer> {
    const now = this.clock();
    const transfer = {
      ...wanted,
      id: randomUUID(),
      createdAt: now,
      expiresAt: now + LIFE_MS,
      isCompleted: false,
    };
    await this.store.run([
      {
        sql: `INSERT INTO transfers (transfer_id, org_id, computer_id, file_name, size_bytes, content_type, created_at, expires_at)
          SELECT $transfer_id, $org_id, $computer_id, $file_name, CAST($size_bytes AS BIGINT), $content_type, instant($created_at), instant($expires_at)`,
        parameters: {
          transfer_id: transfer.id,
          org_id: transfer.orgId,
          computer_id: transfer.computerId,
          file_name: transfer.fileName,
          size_bytes: transfer.sizeBytes,
          content_type: contentType ?? null,
          created_at: transfer.createdAt,
          expires_at: transfer.expiresAt,
        },
      },
    ]);
    return transfer;
  }

  async find(id: string): Promise<Transfer | undefined> {
    const [row] = await this.store.select(`SELECT ${COLUMNS} FROM transfers WHERE transfer_id = $id`, { id });
    return row === undefined ? undefined : toTransfer(row);
  }

  /**
   * The transfer of a file to a computer, and whether it was written to this folder ('' for the workspace). TRICKY: the database
   * compares the names, since reading them loses a byte order mark at their beginning.
   */
  async findOf(
    { orgId, computerId, fileName }: Pick<Transfer, 'orgId' | 'computerId' | 'fileName'>,
    id: string,
    destPath: string,
  ): Promise<(Transfer & { isThere: boolean }) | undefined> {
    const [row] = await this.store.select(
      `SELECT ${COLUMNS}, coalesce(dest_path = $dest_path, 1 = 0) AS is_there FROM transfers
        WHERE transfer_id = $id AND org_id = $org_id AND computer_id = $computer_id AND file_name = $file_name`,
      { id, org_id: orgId, computer_id: computerId, file_name: fileName, dest_path: destPath },
    );
    return row === undefined ? undefined : { ...toTransfer(row), fileName, isThere: Boolean(row.is_there) };
  }

  /** Records that a transfer was written, to which folder, and for which session. */
  async complete({ id }: Transfer, destPath: string, sessionId: string): Promise<void> {
    await this.store.run([
      {
        sql: `UPDATE transfers SET dest_path = $dest_path, session_id = $session_id, completed_at = instant($now)
          WHERE transfer_id = $id`,
        parameters: { id, dest_path: destPath, session_id: sessionId, now: this.clock() },
      },
    ]);
  }

  /** The transfers that nobody needs any more. */
  async over(): Promise<Transfer[]> {
    const rows = await this.store.select(
      `SELECT ${COLUMNS} FROM transfers
        WHERE expires_at < instant($long_ago) OR (expires_at < instant($ago) AND completed_at IS NULL)`,
      { long_ago: this.clock() - MEMORY_MS, ago: this.clock() - GRACE_MS },
    );
    return rows.map(toTransfer);
  }

  forget({ id }: Transfer): Promise<void> {
    return this.store.run([{ sql: 'DELETE FROM transfers WHERE transfer_id = $id', parameters: { id } }]);
  }
}
