import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { DestPath, FileName } from '../agent/path.js';
import type { Computer } from '../computer/computer.js';
import { JobFailed, NoAnswer, NotConnected } from '../computer/relay.js';
import { NoTransfer, NotUploaded } from '../computer/upload.js';
import { type Caller, requireAction } from './auth.js';
import { isOwn, noComputer } from './computers.js';
import { ApiError } from './errors.js';
import type { ApiDeps } from './family.js';

/** How large a file can be. */
const FILE_BYTES = 2 * 2 ** 30;

const Params = z.strictObject({ computerId: z.string(), fileName: FileName });

const NewUpload = z.strictObject({
  sizeBytes: z.int().min(0).max(FILE_BYTES),
  contentType: z.string().min(1).max(255).optional(),
});

const Upload = z
  .strictObject({
    transferId: z.uuid(),
    uploadUrl: z.string().meta({ description: 'takes the bytes by PUT, without a credential' }),
    expiresAt: z.int().min(0).meta({ description: 'Unix milliseconds' }),
  })
  .meta({ id: 'Upload' });

/** public-api.md 2.4 */
const Completion = z.strictObject({
  transferId: z.uuid(),
  sessionId: z.string().min(1),
  destPath: DestPath.optional(),
});

/** public-api.md 2.4 */
export const Completed = z
  .strictObject({ transferId: z.uuid(), fileName: FileName, byteLength: z.int().min(0) })
  .meta({ id: 'CompletedUpload' });

/** Throws 403 unless the caller may send files to this computer: decisions.md, Credentials and roles. */
function requireUpload(caller: Caller, computer: Computer): void {
  if (isOwn(caller, computer)) requireAction(caller, 'upload to own computers');
  else if (computer.owner.kind === 'service')
    requireAction(caller, 'upload to computers of service accounts');
  else requireAction(caller, "upload to another person's computers");
}

/** What a completion that failed is for the sender. */
function refusalOf(error: unknown, fileName: string): unknown {
  if (error instanceof NoTransfer) return new ApiError(404, error.message);
  if (error instanceof NotUploaded)
    return new ApiError(
      424,
      'The bytes have not arrived, or are not sizeBytes many: send them with PUT to the uploadUrl, then complete again.',
    );
  if (error instanceof JobFailed)
    return error.reason === 'exists'
      ? new ApiError(409, `There is a file ${fileName} in that folder already: it is never replaced.`)
      : new ApiError(424, `The computer could not write the file. ${error.detail}`);
  if (error instanceof NotConnected)
    return new ApiError(
      503,
      'The computer is not connected: start "daybook agent" there, then complete again.',
      { 'retry-after': '5' },
    );
  if (error instanceof NoAnswer)
    return new ApiError(
      503,
      'The computer did not answer in time and may still be at work: complete again.',
      {
        'retry-after': '5',
      },
    );
  return error;
}

/** Files into a computer's workspace (public-api.md 4.4; decisions.md, File upload). */
export const files: FastifyPluginAsyncZod<ApiDeps> = async (app, { computers, uploads }) => {
  const uploadable = async (caller: Caller, id: string) => {
    const computer = await computers.find(caller.orgId, { id });
    if (computer === undefined) throw noComputer(id);
    requireUpload(caller, computer);
    return computer;
  };

  app.post(
    '/computers/:computerId/files/:fileName/create-upload',
    {
      config: { action: 'upload to own computers', errors: [404, 413, 415] },
      schema: {
        summary: 'Begin to send a file to a computer',
        params: Params,
        body: NewUpload,
        response: { 200: Upload },
      },
    },
    async (request) => {
      const { computerId, fileName } = request.params;
      const { sizeBytes, contentType } = request.body;
      const { orgId } = request.caller;
      await uploadable(request.caller, computerId);
      const transfer = await uploads.transfers.create(
        { orgId, computerId, fileName, sizeBytes },
        contentType,
      );
      const address = await uploads.putAddress(transfer);
      return {
        transferId: transfer.id,
        uploadUrl: new URL(address, `${request.protocol}://${request.host}`).href,
        expiresAt: transfer.expiresAt,
      };
    },
  );

  app.post(
    '/computers/:computerId/files/:fileName/complete-upload',
    {
      config: { action: 'upload to own computers', errors: [404, 409, 413, 415, 424, 503] },
      schema: {
        summary: "Write a file that was sent into the computer's workspace",
        description: 'The same call again answers the same: what was written is not written twice.',
        params: Params,
        body: Completion,
        response: { 200: Completed },
      },
    },
    async (request) => {
      const { computerId, fileName } = request.params;
      const { orgId } = request.caller;
      await uploadable(request.caller, computerId);
      try {
        const { id, sizeBytes } = await uploads.complete({ orgId, computerId, fileName }, request.body);
        return { transferId: id, fileName, byteLength: sizeBytes };
      } catch (error) {
        throw refusalOf(error, fileName);
      }
    },
  );
};
