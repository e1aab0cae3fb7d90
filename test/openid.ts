import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { onTestFinished } from 'vitest';
import type { AtEnd } from './world.js';

const CLIENT_SECRET = 'a~secret of/more+than:thirty-two%letters';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** What the provider says of each person, by the name that they give to its form. */
export type People = Readonly<Record<string, object>>;

/** How a provider differs from others. */
export interface Likeness {
  /** The path of its issuer. */
  readonly path?: string;
  /** The claims that each scope gives. */
  readonly claims?: Readonly<Record<string, readonly string[]>>;
  /** Whether it tells claims in its userinfo alone. */
  readonly isThin?: boolean;
  /** The ways in which it takes client secrets. */
  readonly authMethods?: readonly string[];
  /** Whether its userinfo answers. */
  readonly hasUserinfo?: boolean;
  /** Whether people can sign in on another device. */
  readonly hasDevices?: boolean;
  /** What becomes of an ID token on its way to the service. */
  readonly changed?: (idToken: string) => string;
}

/** Starts an OpenID provider on this machine, whose only client is a service, and answers the settings of that service. */
export async function startProvider(
  people: People,
  redirectUri: string,
  atEnd: AtEnd = onTestFinished,
  {
    path = '',
    claims = { openid: ['sub', 'org_id', 'role'], email: ['email'], profile: ['name'] },
    isThin = false,
    authMethods = ['client_secret_basic', 'client_secret_post'],
    hasUserinfo = true,
    hasDevices = false,
    changed = (idToken) => idToken,
  }: Likeness = {},
): Promise<Record<string, string>> {
  const server = createServer((request, response) => {
    const { url = '' } = request;
    if (!url.startsWith(path)) response.writeHead(404).end();
    else if (url === `${path}/me` && !hasUserinfo) response.writeHead(503).end();
    // The provider finds its path by the original address, as in Express.
    else
      provider.callback()(
        Object.assign(request, { originalUrl: url, url: url.slice(path.length) }),
        response,
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'daybook',
        client_secret: CLIENT_SECRET,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: authMethods[0],
        grant_types: ['authorization_code', ...(hasDevices ? [DEVICE_GRANT] : [])],
      },
      // A public client, which some providers want for devices.
      ...(hasDevices
        ? [
            {
              ...{ client_id: 'laptops', token_endpoint_auth_method: 'none', application_type: 'native' },
              ...{ grant_types: [DEVICE_GRANT], redirect_uris: [], response_types: [] },
            },
          ]
        : []),
    ],
    features: { deviceFlow: { enabled: hasDevices } },
    clientAuthMethods: [...authMethods, ...(hasDevices ? ['none'] : [])],
    cookies: { keys: ['tests'] },
    conformIdTokenClaims: isThin,
    claims,
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, ...people[sub] }),
    }),
    pkce: { required: () => true },
  });
  provider.use(async (context, next) => {
    await next();
    const { body } = context;
    if (typeof body?.id_token === 'string') context.body = { ...body, id_token: changed(body.id_token) };
  });
  return {
    DAYBOOK_OIDC_ISSUER: issuer,
    DAYBOOK_OIDC_CLIENT_ID: 'daybook',
    DAYBOOK_OIDC_CLIENT_SECRET: CLIENT_SECRET,
  };
}

/**
 * A browser without scripts that signs somebody in for a device: it keeps cookies, and sends the forms of pages with their hidden members and more,
 * until a page matches.
 */
export async function submitForms(
  start: string,
  more: Readonly<Record<string, string>>,
  until = /Sign-in Success/,
): Promise<void> {
  const cookies = new Map<string, string>();
  let page = '';
  let [address, form]: [string, URLSearchParams | undefined] = [start, undefined];
  for (let step = 0; step < 16; step += 1) {
    const answer: Response = await fetch(address, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    page = await answer.text();
    const location: string | null = answer.headers.get('location');
    const action = location ?? /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
    if (until.test(page)) return;
    if (action === undefined) break;
    address = new URL(action, address).href;
    const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    form =
      location === null
        ? new URLSearchParams({
            ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])),
            ...more,
          })
        : undefined;
  }
  throw new Error(`the provider ends with ${page}`);
}

/** A browser on its way through the provider, without scripts: it keeps cookies, and stops at the address that it was to come back to. */
export async function passProvider(start: string, login: string, until: string): Promise<string> {
  const cookies = new Map<string, string>();
  let address = start;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 12 && !address.startsWith(until); step += 1) {
    const answer = await fetch(address, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const page = await answer.text();
    const location = answer.headers.get('location');
    if (location !== null) {
      address = new URL(location, address).href;
      form = undefined;
      continue;
    }
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
    const [, prompt = ''] = /name="prompt" value="(\w+)"/.exec(page) ?? [];
    if (action === undefined)
      throw new Error(`the provider answers ${answer.status} without a form: ${page}`);
    address = new URL(action, address).href;
    form = new URLSearchParams({ prompt, login, password: 'anything' });
  }
  return address;
}
