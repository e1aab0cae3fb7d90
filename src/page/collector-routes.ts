import { join } from 'node:path';
import files from '@fastify/static';
import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { PACKAGE_ROOT, VERSION } from '../disk/package-root.js';

/** What scripts/collector.js makes of the same build. */
const FILE = 'collector.tgz';

/** Serves the package of the collector, so that whoever has the service's address can install what fits it. It holds no secret. */
export const collectorRoutes: FastifyPluginAsync = async (app) => {
  await app.register(files, { root: join(PACKAGE_ROOT, 'dist'), serve: false });
  // It is compressed. The plugin would call that its own work, and clients would unpack it.
  const options = { compress: false as const, schema: { hide: true, querystring: z.looseObject({}) } };
  app.get(`/${FILE}`, options, (_, reply) =>
    reply
      .header('content-disposition', `attachment; filename="daybook-collector-${VERSION}.tgz"`)
      .sendFile(FILE),
  );
};
