import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { MOST_KEYS } from '../api/api-key-routes.js';
import { countValidKeys, createKey, KeyName } from '../api/api-keys.js';
import { ClaimFault } from '../api/caller-of-claims.js';
import { ApiError } from '../api/errors.js';
import { nameInLog } from '../api/request-log.js';
import { may } from '../api/roles.js';
import { messageOf } from '../exit.js';
import type { Store } from '../store/store.js';
import { DeviceLimits } from './device-limits.js';
import type { OpenIdProvider } from './openid-provider.js';
import type { Tickets } from './tickets.js';

interface DeviceDeps {
  readonly store: Store;
  readonly clock: () => number;
  readonly tickets: Tickets;
  /** Undefined if the service has none. */
  readonly provider: OpenIdProvider | undefined;
}

/** A sign-in that has begun, as only the service can read it: the program that began it holds the ticket. */
const Begun = z.strictObject({
  deviceCode: z.string(),
  name: z.string(),
  endsAt: z.number(),
  intervalMs: z.number(),
});

/** A little less than the interval that the program waits, since its clock and the network aren't exact. */
const SLACK_MS = 500;

const NO_SIGN_IN =
  'This service has no sign-in by browser: its operator sets up OpenID Connect with the device flow (docs/openid-connect.md), or makes an API key with "daybook keys create".';
const ENDED = 'This sign-in has expired or was used before: begin again.';

/**
 * Signs a person in whose browser isn't where the program runs (RFC 8628), and makes an API key of the person for it. The service keeps nothing
 * of a sign-in that has begun: all of it is in the encrypted ticket that the program holds.
 */
export const deviceRoutes: FastifyPluginAsyncZod<DeviceDeps> = async (
  app,
  { store, clock, tickets, provider },
) => {
  const limits = new DeviceLimits(clock);
  const options = { bodyLimit: 16_384, schema: { hide: true } };

  app.post(
    '/sign-in/device',
    { ...options, schema: { ...options.schema, body: z.strictObject({ name: KeyName }) } },
    async (request, reply) => {
      if (provider === undefined) throw new ApiError(404, NO_SIGN_IN);
      if (!limits.mayBegin(normalizeIP(request.ip)))
        throw new ApiError(429, 'Too many people sign in at the moment: try again in a minute.');
      const begun = await provider.beginDevice().catch((error: unknown) => {
        request.log.error(`The OpenID provider began no sign-in of a device: ${messageOf(error)}.`);
        throw new ApiError(
          503,
          'The OpenID provider begins no sign-in by browser: the log of the service says why. Use an API key meanwhile.',
        );
      });
      if (begun === undefined) throw new ApiError(404, NO_SIGN_IN);
      const { deviceCode, userCode, address, completeAddress, expiresIn, interval } = begun;
      const { text, endsAt } = tickets.issue('device', {
        ...{ deviceCode, name: request.body.name, intervalMs: interval * 1000 },
        endsAt: clock() + expiresIn * 1000,
      } satisfies z.infer<typeof Begun>);
      const expires_in = Math.min(expiresIn, Math.floor((endsAt - clock()) / 1000));
      return reply.status(201).send({
        ...{ device_token: text, user_code: userCode, interval, expires_in },
        ...{ verification_uri: address, verification_uri_complete: completeAddress ?? null },
      });
    },
  );

  app.post(
    '/sign-in/device/key',
    {
      ...options,
      schema: { ...options.schema, body: z.strictObject({ device_token: z.string().max(12_000) }) },
    },
    async (request, reply) => {
      const ticket = provider && (await tickets.open('device', request.body.device_token, Begun));
      if (provider === undefined || ticket === undefined || ticket.content.endsAt <= clock())
        throw new ApiError(400, ENDED);
      const { deviceCode, name, intervalMs } = ticket.content;
      if (!limits.mayAsk(ticket.id, intervalMs - SLACK_MS))
        return reply.status(202).send({ error: 'slow_down' });
      const found = await provider.finishDevice(deviceCode).catch((error: unknown) => {
        const isUnnamed = error instanceof ClaimFault;
        request.log.warn(
          `The OpenID provider did not sign a person in on a device${isUnnamed ? ', since ' : ': '}${messageOf(error)}.`,
        );
        throw isUnnamed
          ? new ApiError(
              403,
              'The OpenID provider does not say who you are, or what you may do: the log of the service names the claim.',
            )
          : new ApiError(
              503,
              "The OpenID provider can't be asked, or confirms nobody: the log of the service says why. Try again.",
            );
      });
      if (found === 'access_denied') throw new ApiError(403, 'The sign-in was refused in the browser.');
      if (found === 'expired_token') throw new ApiError(400, ENDED);
      if (typeof found === 'string') return reply.status(202).send({ error: found });
      nameInLog(request, found);
      const { orgId, role, userId, email } = found;
      // Somebody else can't have it: the ticket ends before the key is made.
      if (!(await tickets.end(ticket))) throw new ApiError(400, ENDED);
      if (userId === null || !may(role, 'send events') || role === 'ingest')
        throw new ApiError(
          403,
          `A person of role ${role} may not send events: ask an owner for the role member.`,
        );
      if ((await countValidKeys(store, orgId, clock())) >= MOST_KEYS)
        throw new ApiError(
          409,
          `The organization has ${MOST_KEYS} valid API keys: have an owner revoke those that are not used.`,
        );
      const wanted = {
        orgId,
        role: 'member',
        name,
        userId,
        email: email ?? undefined,
        createdBy: userId,
      } as const;
      const { key, key_id } = await createKey(store, wanted, clock());
      return reply.status(201).send({ key, key_id, org_id: orgId, user_id: userId });
    },
  );
};
