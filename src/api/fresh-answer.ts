import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ReadColumns, Store } from '../store/store.js';
import { BYTES_IN_MEMORY, written } from './answer-body.js';
import { Answered } from './answer-cache.js';
import type { Form, Reading } from './answer-rows.js';
import { piecesOf } from './answerer.js';
import type { ApiDeps } from './route-family.js';
import { formOf, isKnownOf, sendAnswer } from './send-answer.js';

/** Reads the rows of an answer in a format, and what is said beside them, of one state of the store. */
type Read = (
  select: Store['select'],
  readColumns: ReadColumns,
  form: Form,
) => Promise<{ readonly reading: Reading; readonly meta: object }>;

/** Sends an answer that depends on more than the builds of days: nothing of it is kept, and its tag is made from its bytes. */
export async function sendFresh(
  request: FastifyRequest,
  reply: FastifyReply,
  { store, config }: Pick<ApiDeps, 'store' | 'config'>,
  read: Read,
): Promise<FastifyReply> {
  const form = formOf(request);
  const { body, digest } = await written(config.data, BYTES_IN_MEMORY, (write) =>
    store.snapshot(async (select, readColumns) => {
      const { reading, meta } = await read(select, readColumns, form);
      return write(await piecesOf(reading, form, meta));
    }),
  );
  const answered = new Answered(digest, body, digest, '');
  return sendAnswer(answered, isKnownOf(request), request, reply, { form, publicUrl: config.publicUrl });
}
