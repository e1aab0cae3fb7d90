import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Encodings } from './encodings.js';
import { isListedIn, sendBytes, varyBy } from './send-answer.js';

/** A document that is the same for everybody. It is made for the first request, and sent as bytes from then on. */
export class KeptDocument {
  private readonly encodings = new Encodings();
  private made: { readonly bytes: Buffer; readonly tag: string } | undefined;

  constructor(
    private readonly type: string,
    private readonly make: () => string | Buffer,
  ) {}

  async send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (this.made === undefined) {
      const bytes = Buffer.from(this.make());
      this.made = { bytes, tag: createHash('sha256').update(bytes).digest('base64url').slice(0, 22) };
    }
    const { bytes, tag } = this.made;
    reply.headers({ etag: `W/"${tag}"`, 'cache-control': 'no-cache' });
    varyBy(reply, 'accept-encoding');
    if (isListedIn(request)?.(tag) === true) return reply.status(304).send();
    return sendBytes(bytes, this.encodings, request, reply.type(this.type));
  }
}
