import type { FastifyInstance } from 'fastify';
import { isIntricate, LEVELS_AT_MOST, VALUES_AT_MOST } from '../input/json-depth.js';
import { ApiError } from './errors.js';

/**
 * Parses JSON bodies that aren't nested too deeply, for all routes with such a body.
 * TRICKY: this checks the depth before parsing. The parser accepts any depth, but code that walks the value afterwards, such as
 * JSON.stringify, recurses level by level and runs out of stack.
 * `mended` makes JSON of bodies that aren't quite. `others` are more media types of JSON.
 */
export function parseJsonBodies(
  app: FastifyInstance,
  mended = (text: string) => text,
  others: readonly string[] = [],
): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<string>(
    ['application/json', ...others],
    { parseAs: 'string' },
    (request, text, done) => {
      if (isIntricate(text, LEVELS_AT_MOST, VALUES_AT_MOST))
        done(
          new ApiError(
            400,
            `The body must be nested at most ${LEVELS_AT_MOST} levels deep, and have at most ${VALUES_AT_MOST} values.`,
          ),
        );
      else parse(request, mended(text), done);
    },
  );
}
