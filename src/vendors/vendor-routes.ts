import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { authorOf } from '../api/caller.js';
import { ApiError } from '../api/errors.js';
import { DEFAULT_LIMIT, limitOf } from '../api/page-limit.js';
import type { Protection } from '../api/protection.js';
import {
  IfMatch,
  REVISION_ERRORS,
  REVISION_HEADERS,
  RevisionMembers,
  requireMatch,
  revisionMembers,
  Stale,
  tagOf,
} from '../api/revision-tag.js';
import type { ApiDeps } from '../api/route-family.js';
import type { SettingsChange } from '../controls/sealed-revisions.js';
import type { SecretKey } from '../controls/secret-key.js';
import { UsageError } from '../exit.js';
import { newestPulls } from '../store/state/vendor-pulls.js';
import { sealedVendors, VendorSettings } from './vendor-settings.js';

const Answer = z
  .object({ ...RevisionMembers, ...VendorSettings.shape })
  .meta({ id: 'Vendors', description: "vendors' APIs that are pulled, after a change of them" });

const Pulls = z.object({
  pulls: z
    .array(
      z.object({
        report: z
          .string()
          .meta({ description: 'the report of a vendor', examples: ['anthropic-claude-code'] }),
        pulledAt: z.iso
          .datetime()
          .meta({ description: 'when it was pulled last', examples: ['2026-06-02T00:15:08.120Z'] }),
        days: z.int().meta({ description: 'days that were fetched whole', examples: [31] }),
        changed: z.int().meta({ description: 'of them, those that were not as before', examples: [4] }),
        missed: z
          .array(z.iso.date())
          .meta({ description: 'days that could not be fetched; the next pull does', examples: [[]] }),
        fault: z
          .string()
          .nullable()
          .meta({
            description: 'the last fault, or null',
            examples: ['Anthropic answers /v1/organizations/usage_report/claude_code with 500'],
          }),
      }),
    )
    .meta({ description: 'the last pull of each report' }),
});

function bodyOf(
  found: SettingsChange<VendorSettings>,
  protection: Protection | undefined,
): z.infer<typeof Answer> {
  return { ...revisionMembers(found, protection), ...found.settings };
}

/** Which vendors' APIs are pulled, and what came of it (docs/vendors.md). */
export const vendorRoutes: FastifyPluginAsyncZod<ApiDeps & { readonly secretKey: SecretKey }> = async (
  app,
  { store, secretKey, clock },
) => {
  const forOwners = { action: 'manage vendors' as const };

  app.get(
    '',
    {
      config: { ...forOwners, headers: REVISION_HEADERS },
      schema: {
        tags: ['vendors'],
        operationId: 'getVendors',
        summary: "The vendors' APIs that are pulled each night",
        response: { 200: Answer },
      },
    },
    async ({ caller: { orgId }, protection }, reply) => {
      const found = await sealedVendors.newest(store, orgId);
      reply.header('etag', `"${tagOf(orgId, found.revision)}"`);
      return bodyOf(found, protection);
    },
  );

  app.put(
    '',
    {
      config: { ...forOwners, headers: REVISION_HEADERS, errors: REVISION_ERRORS },
      schema: {
        tags: ['vendors'],
        operationId: 'putVendors',
        summary: "Change which vendors' APIs are pulled",
        description:
          'The vendors of the body replace all. A key of *** stays as it is. With If-Match, only if that is still the newest revision.',
        headers: IfMatch,
        body: VendorSettings,
        response: { 200: Answer },
      },
    },
    async ({ caller, body, headers, protection }, reply) => {
      const { orgId } = caller;
      const check = (revision: number) => requireMatch(headers['if-match'], orgId, revision);
      const found = await sealedVendors
        .change(...([store, orgId, body, secretKey, authorOf(caller), clock(), check] as const))
        .catch((error) => {
          const isFault = error instanceof UsageError && !(error instanceof Stale);
          throw isFault ? new ApiError(400, error.message) : error;
        });
      reply.header('etag', `"${tagOf(orgId, found.revision)}"`);
      return bodyOf(found, protection);
    },
  );

  app.get(
    '/history',
    {
      config: { ...forOwners, errors: { 400: 'The parameter limit must be an integer from 1 to 100.' } },
      schema: {
        tags: ['vendors'],
        operationId: 'getVendorsHistory',
        summary: "The newest changes of which vendors' APIs are pulled, newest first",
        querystring: z.strictObject({ limit: limitOf('changes') }),
        response: { 200: z.object({ changes: z.array(Answer) }) },
      },
    },
    async ({ caller: { orgId }, query: { limit = DEFAULT_LIMIT }, protection }) => ({
      changes: (await sealedVendors.history(store, orgId, Number(limit))).map((one) =>
        bodyOf(one, protection),
      ),
    }),
  );

  app.get(
    '/pulls',
    {
      config: forOwners,
      schema: {
        tags: ['vendors'],
        operationId: 'getVendorsPulls',
        summary: "The last pull of each vendor's report",
        response: { 200: Pulls },
      },
    },
    async ({ caller: { orgId } }) => ({
      pulls: (await newestPulls(store, orgId)).map(({ pulledAt, missed, fault, ...pull }) => ({
        ...pull,
        pulledAt: new Date(pulledAt).toISOString(),
        missed: [...missed],
        fault: fault === '' ? null : fault,
      })),
    }),
  );
};
