import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ApiError } from '../api/errors.js';
import { nameInLog } from '../api/request-log.js';
import { requireAddress } from '../api/route-family.js';
import { isFull } from '../disk/folder.js';
import type { Permission } from './address-signer.js';
import type { ComputerDeps } from './computer-deps.js';
import { LocalObjects, WrongLength } from './object-storage.js';
import { LIFE_MS, type Transfer, TransferId } from './transfer.js';

const Params = z.strictObject({ transferId: TransferId });
const Signed = z.strictObject({
  expires: z
    .string()
    .regex(/^\d{1,16}$/, 'must be an instant in Unix milliseconds')
    .meta({ description: 'when the address expires, in Unix milliseconds', examples: ['1780273804000'] }),
  signature: z
    .string()
    .regex(/^[\w-]{43}$/, 'must be that of the address')
    .meta({
      description: 'signature of the address',
      examples: ['Yk3J9sXn2vT7qLw0eRm5uHc8aZp1dGf4bKi6oVj-tSy'],
    }),
});

const NOT_SIGNED =
  'The address is not signed for this transfer, or has expired: create-upload returns a new one.';
const GONE = 'The transfer is completed or expired: create-upload starts a new one.';
const NO_ROOM = 'The service has no room for the file at the moment: send it again later.';

/** Receives and sends bytes for signed addresses (docs/computers.md, "Send a file"). */
export const transfers: FastifyPluginAsyncZod<ComputerDeps> = async (app, deps) => {
  const { uploads, signer, clock } = deps;
  const { objects } = uploads;
  // With an object store that has addresses of its own, no bytes go through the service.
  if (!(objects instanceof LocalObjects)) return;
  // The body is streamed to disk, so no parser may read it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_, payload, done) => done(null, payload));

  const permitted = async (
    permission: Permission,
    request: FastifyRequest,
    transferId: string,
    signed: z.infer<typeof Signed>,
  ): Promise<Transfer> => {
    const { expires, signature } = signed;
    if (!signer.isSigned(permission, transferId, { expires: Number(expires), signature }, clock()))
      throw new ApiError(403, NOT_SIGNED);
    const transfer = await uploads.transfers.find(transferId);
    if (transfer === undefined || transfer.isCompleted) throw new ApiError(404, GONE);
    nameInLog(request, transfer);
    await requireAddress(request, transfer.orgId, deps);
    return transfer;
  };

  app.put(
    '/transfers/:transferId',
    {
      config: {
        receiveSeconds: LIFE_MS / 1000,
        bodies: { 'application/octet-stream': z.string().meta({ examples: ['hello'] }) },
        errors: {
          400: 'There is no parameter timezone: use expires, signature.',
          403: NOT_SIGNED,
          404: GONE,
          503: NO_ROOM,
        },
      },
      schema: {
        tags: ['computers'],
        operationId: 'sendBytes',
        summary: 'Send the bytes of a file',
        description: 'The address is the uploadUrl of create-upload. The body is the file itself.',
        params: Params,
        querystring: Signed,
        response: { 204: z.null() },
      },
    },
    async (request, reply) => {
      const { params, query, headers } = request;
      try {
        const { id, sizeBytes } = await permitted('PUT', request, params.transferId, query);
        const announced = headers['content-length'];
        if (announced !== undefined && Number(announced) !== sizeBytes) throw new WrongLength();
        await objects.write(id, (request.body as IncomingMessage | undefined) ?? request.raw, sizeBytes);
        return reply.status(204).send(null);
      } catch (error) {
        if (error instanceof WrongLength)
          throw new ApiError(400, 'The body must have exactly the sizeBytes given to create-upload.');
        if (isFull(error)) throw new ApiError(503, NO_ROOM, { 'retry-after': '60' });
        throw error;
      }
    },
  );

  app.get(
    '/transfers/:transferId',
    { schema: { hide: true, params: Params, querystring: Signed } },
    async (request, reply) => {
      const { id, sizeBytes } = await permitted('GET', request, request.params.transferId, request.query);
      if ((await objects.size(id)) !== sizeBytes) throw new ApiError(404, 'The bytes are not there.');
      return reply
        .type('application/octet-stream')
        .header('content-length', sizeBytes)
        .send(await objects.read(id));
    },
  );
};
