import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { addRevisionRoutes } from '../api/revision-routes.js';
import type { ApiDeps } from '../api/route-family.js';
import type { SecretKey } from '../controls/secret-key.js';
import { dayOf, lastClosedDay } from '../day.js';
import { newestPulls } from '../store/state/vendor-pulls.js';
import { sealedVendors, VendorSettings } from './vendor-settings.js';

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
        isLate: z
          .boolean()
          .meta({ description: 'whether there was no pull on the day before or since', examples: [false] }),
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

/** Which vendors' APIs are pulled, and what came of it (docs/vendors.md). */
export const vendorRoutes: FastifyPluginAsyncZod<ApiDeps & { readonly secretKey: SecretKey }> = async (
  app,
  { store, secretKey, clock },
) => {
  const forOwners = { action: 'manage vendors' as const };

  addRevisionRoutes(app, {
    ...{ tag: 'vendors', ...forOwners, schema: VendorSettings },
    subject: "which vendors' APIs are pulled",
    effect: 'The vendors of the body replace all. A key of *** stays as it is.',
    newest: (orgId) => sealedVendors.newest(store, orgId),
    change: (orgId, settings, author, check) =>
      sealedVendors.change(store, orgId, settings, secretKey, author, clock(), check),
    history: (orgId, limit) => sealedVendors.history(store, orgId, limit),
  });

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
        isLate: dayOf(pulledAt) < lastClosedDay(clock()),
        missed: [...missed],
        fault: fault === '' ? null : fault,
      })),
    }),
  );
};
