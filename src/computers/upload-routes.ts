import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { requireAction } from '../api/auth.js';
import type { Caller } from '../api/caller.js';
import { ApiError } from '../api/errors.js';
import { baseOf } from '../api/public-url.js';
import { nameText } from '../input/name-text.js';
import { JobFailed } from './agent-message.js';
import { NoAnswer, NotConnected } from './agent-relay.js';
import type { Computer } from './computer.js';
import type { ComputerDeps } from './computer-deps.js';
import { ComputerId, isOwn, NOT_FOUND, noComputer } from './computer-routes.js';
import { TransferId } from './transfer.js';
import { Completion, NOT_SENT } from './upload.js';
import { FileName } from './workspace-path.js';

/** How large a file can be. */
const FILE_BYTES = 2 * 2 ** 30;

const Params = z.strictObject({ computerId: ComputerId, fileName: FileName });

const NewUpload = z
  .strictObject({
    sizeBytes: z
      .int()
      .min(0)
      .max(FILE_BYTES)
      .meta({ description: 'size of the file in bytes', examples: [5] }),
    contentType: nameText(255)
      .meta({ examples: ['text/plain'] })
      .optional(),
  })
  .meta({ examples: [{ sizeBytes: 5 }] });

const Upload = z
  .strictObject({
    transferId: TransferId,
    uploadUrl: z.string().meta({
      description: 'send the bytes here with PUT, without a credential',
      examples: [
        'https://daybook.acme.example/api/v0/transfers/0b0e5c5a-6d0f-4a57-9a0c-3c1f0c2f5c10?expires=1780273804000&signature=Yk3J9sXn2vT7qLw0eRm5uHc8aZp1dGf4bKi6oVj-tSy',
      ],
    }),
    expiresAt: z
      .int()
      .min(0)
      .meta({ description: 'in Unix milliseconds', examples: [1_780_273_804_000] }),
  })
  .meta({ id: 'Upload' });

/** A file that is on the computer. */
export const Completed = z
  .strictObject({
    transferId: TransferId,
    fileName: FileName,
    byteLength: z
      .int()
      .min(0)
      .meta({ examples: [5] }),
  })
  .meta({ id: 'CompletedUpload' });

const NOT_CONNECTED =
  'The computer is not connected: start "daybook agent" there, or wait for a machine that sleeps, then complete again.';
const IS_THERE = (fileName: string) =>
  `The folder already has a file ${fileName}, which is never replaced: choose another name.`;

/** Throws 403 unless the caller may send files to this computer (docs/computers.md, "Send a file"). */
function requireUpload(caller: Caller, computer: Computer): void {
  if (isOwn(caller, computer)) requireAction(caller, 'upload files to computers');
  else if (computer.owner.kind === 'service')
    requireAction(caller, 'upload files to computers of service accounts');
  else requireAction(caller, "upload files to another person's computers");
}

/** The error that the sender gets when a completion fails. */
function refusalOf(error: unknown, fileName: string): unknown {
  if (error instanceof JobFailed)
    return error.reason === 'exists'
      ? new ApiError(409, IS_THERE(fileName))
      : new ApiError(424, `The computer could not write the file. ${error.message}`);
  if (error instanceof NotConnected) return new ApiError(503, NOT_CONNECTED);
  if (error instanceof NoAnswer)
    return new ApiError(503, 'The computer did not answer in time and may still be writing: complete again.');
  return error;
}

/** Uploads files into a computer's workspace (docs/computers.md, "Send a file"). */
export const files: FastifyPluginAsyncZod<ComputerDeps> = async (
  app,
  { computers, uploads, provisioner, config },
) => {
  const uploadable = async (caller: Caller, id: string) => {
    const computer = await computers.find(caller.orgId, { id });
    if (computer === undefined) throw noComputer(id);
    requireUpload(caller, computer);
    return computer;
  };

  app.post(
    '/computers/:computerId/files/:fileName/create-upload',
    {
      config: { action: 'upload files to computers', errors: NOT_FOUND },
      schema: {
        tags: ['computers'],
        operationId: 'createUpload',
        summary: 'Start sending a file to a computer',
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
        uploadUrl: new URL(address, baseOf(config, request)).href,
        expiresAt: transfer.expiresAt,
      };
    },
  );

  app.post(
    '/computers/:computerId/files/:fileName/complete-upload',
    {
      config: {
        action: 'upload files to computers',
        errors: {
          ...NOT_FOUND,
          409: IS_THERE('hello.txt'),
          424: NOT_SENT,
          503: NOT_CONNECTED,
        },
      },
      schema: {
        tags: ['computers'],
        operationId: 'completeUpload',
        summary: "Write a sent file into the computer's workspace",
        description: 'You can repeat the call: it returns the same answer, and nothing is written twice.',
        params: Params,
        body: Completion,
        response: { 200: Completed },
      },
    },
    async (request) => {
      const { computerId, fileName } = request.params;
      const { orgId } = request.caller;
      const computer = await uploadable(request.caller, computerId);
      try {
        const { id, sizeBytes } = await uploads.complete({ orgId, computerId, fileName }, request.body);
        return { transferId: id, fileName, byteLength: sizeBytes };
      } catch (error) {
        if (error instanceof NotConnected) provisioner.wake(computer);
        throw refusalOf(error, fileName);
      }
    },
  );
};
