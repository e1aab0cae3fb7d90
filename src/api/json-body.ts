import type { FastifyInstance } from 'fastify';
import { isNestedDeeper, LEVELS_AT_MOST } from '../json-depth.js';
import { ApiError } from './errors.js';

/**
 * Has bodies of JSON parsed that are not nested too deeply, for all routes that take one.
 * TRICKY: before anything is parsed. The parser takes any depth, but whatever goes through the value afterwards, as
 * JSON.stringify does, calls itself level by level and runs out of stack.
 */
export function parseJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (isNestedDeeper(text, LEVELS_AT_MOST))
      done(new ApiError(400, `The body must be nested at most ${LEVELS_AT_MOST} levels deep.`));
    else parse(request, text, done);
  });
}
