import { z } from 'zod';
import { ApiError } from '../api/errors.js';
import type { Signer } from './address-signer.js';
import { NotConnected, type Relay } from './agent-relay.js';
import type { Objects } from './object-storage.js';
import { LIFE_MS, type Transfer, TransferId, type Transfers } from './transfer.js';
import { DestPath } from './workspace-path.js';

export const NOT_SENT =
  'The bytes have not arrived, or are not sizeBytes many: send them with PUT to the uploadUrl, then complete again.';

/** The completion of a file's transfer. Without `destPath` it goes to the workspace itself. */
export const Completion = z
  .strictObject({
    transferId: TransferId,
    sessionId: z
      .string()
      .min(1)
      .meta({ description: 'session that the file is for', examples: ['s-1'] }),
    destPath: DestPath.optional(),
  })
  .meta({
    examples: [{ transferId: '0b0e5c5a-6d0f-4a57-9a0c-3c1f0c2f5c10', sessionId: 's-1', destPath: 'docs' }],
  });
type Completion = z.infer<typeof Completion>;

/** Files on their way from a sender to a computer. */
export class Uploads {
  /** The completions that are under way, by transfer. */
  private readonly completing = new Map<string, Promise<unknown>>();

  constructor(
    readonly transfers: Transfers,
    readonly objects: Objects,
    private readonly relay: Relay,
    private readonly signer: Signer,
    private readonly timeoutMs: number,
    private readonly clock: () => number,
  ) {}

  /** The address to send the bytes to: of the object store itself, or a path of this service. */
  async putAddress({ id, sizeBytes, expiresAt }: Transfer): Promise<string> {
    const { direct } = this.objects;
    return direct === undefined
      ? `api/v0/transfers/${id}?${this.signer.query('PUT', id, expiresAt)}`
      : direct.put(id, sizeBytes, Math.floor((expiresAt - this.clock()) / 1000));
  }

  /**
   * Asks the computer to write a file that was sent. Completions of one transfer run one at a time, and completing it again for the
   * same folder succeeds. Throws 404 and 424, and NotConnected, NoAnswer and JobFailed.
   */
  async complete(
    of: Pick<Transfer, 'orgId' | 'computerId' | 'fileName'>,
    completion: Completion,
  ): Promise<Transfer> {
    const { transferId } = completion;
    for (let other = this.completing.get(transferId); other; other = this.completing.get(transferId))
      await other.catch(() => undefined);
    const work = this.completeOne(of, completion);
    this.completing.set(transferId, work);
    try {
      return await work;
    } finally {
      this.completing.delete(transferId);
    }
  }

  private async completeOne(
    of: Pick<Transfer, 'orgId' | 'computerId' | 'fileName'>,
    { transferId, sessionId, destPath }: Completion,
  ): Promise<Transfer> {
    // UTF-8, as it is stored and written, replaces half a surrogate pair.
    const folder = Buffer.from(destPath?.replace(/\/$/, '') ?? '').toString();
    const transfer = await this.transfers.findOf(of, transferId, folder);
    if (transfer === undefined)
      throw new ApiError(
        404,
        'There is no such transfer for this computer and file: create-upload starts one.',
      );
    if (transfer.isThere) {
      // The service may have stopped between recording the completion and removing the object.
      await this.objects.remove(transfer.id);
      return transfer;
    }
    if (transfer.isCompleted)
      throw new ApiError(
        404,
        'The transfer was completed with another destPath: create-upload starts a new one.',
      );
    if (transfer.expiresAt <= this.clock())
      throw new ApiError(404, 'The transfer has expired: create-upload starts a new one.');
    if ((await this.objects.size(transfer.id)) !== transfer.sizeBytes) throw new ApiError(424, NOT_SENT);
    if (this.relay.connectedAt(transfer.computerId) === null) throw new NotConnected();
    const sha256 = await this.objects.sha256(transfer.id, transfer.sizeBytes);
    await this.relay.ask(
      transfer.computerId,
      {
        type: 'write',
        transferId: transfer.id,
        fileName: transfer.fileName,
        ...(folder === '' ? {} : { destPath: folder }),
        sizeBytes: transfer.sizeBytes,
        sha256,
        createdAt: transfer.createdAt,
        url: await this.getAddress(transfer.id),
      },
      this.timeoutMs,
    );
    await this.transfers.complete(transfer, folder, sessionId);
    await this.objects.remove(transfer.id);
    return transfer;
  }

  private async getAddress(id: string): Promise<string> {
    const { direct } = this.objects;
    return direct === undefined
      ? `api/v0/transfers/${id}?${this.signer.query('GET', id, this.clock() + LIFE_MS)}`
      : direct.get(id, LIFE_MS / 1000);
  }

  /** Removes objects of transfers that nobody completed, and transfers that are too old to be asked about. */
  async sweep(): Promise<void> {
    for (const transfer of await this.transfers.over()) {
      await this.objects.remove(transfer.id);
      await this.transfers.forget(transfer);
    }
  }
}
