import type {
  ClientAuth,
  Configuration,
  TokenEndpointResponse,
  TokenEndpointResponseHelpers,
} from 'openid-client';
import type { Caller } from '../api/caller.js';
import { type Claims, callerOfClaims, lackingClaims } from '../api/caller-of-claims.js';
import { own } from '../input/own.js';
import { limitedFetch } from '../network/outgoing.js';
import { faultText } from '../network/provider-text.js';
import type { OidcConfig } from '../settings/config.js';

/** What a browser keeps on its way to the provider and back. */
export interface Login {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** What a provider says at the begin of a sign-in on another device (RFC 8628, 3.2). Times are seconds. */
export interface DeviceLogin {
  /** The secret by which the service asks whether the person has signed in. */
  readonly deviceCode: string;
  readonly userCode: string;
  readonly address: string;
  /** The address with the code in it, if the provider has one. */
  readonly completeAddress: string | undefined;
  readonly expiresIn: number;
  readonly interval: number;
}

/** The grant of a device (RFC 8628, 3.4), and the seconds between two questions if the provider doesn't say (3.2). */
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const DEVICE_INTERVAL_S = 5;

/** What a provider says before a person has signed in on another device (RFC 8628, 3.5). */
const WAITING = ['authorization_pending', 'slow_down', 'access_denied', 'expired_token'] as const;
export type Waiting = (typeof WAITING)[number];

/**
 * The same by other names: a device code that a provider doesn't know any more, because it has expired or was used, and Entra's word for a
 * refusal.
 */
const ALSO_WAITING: Readonly<Record<string, Waiting>> = {
  invalid_grant: 'expired_token',
  authorization_declined: 'access_denied',
};

/** An OpenID provider at which people sign in: the authorization code flow with PKCE, or the flow of devices. */
export class OpenIdProvider {
  private found: Promise<Configuration> | undefined;
  /** The client secret as it was sent. */
  private sentSecret: string | undefined;

  /** A public client has no secret. */
  constructor(
    private readonly config: Omit<OidcConfig, 'clientSecret' | 'device'> & {
      readonly clientSecret: string | undefined;
    },
  ) {}

  /** The address at which a person signs in, and what to keep until the provider sends the browser to `redirectUri`. */
  begin(redirectUri: string): Promise<{ address: string; login: Login }> {
    return this.masked(() => this.addressFor(redirectUri));
  }

  private async addressFor(redirectUri: string): Promise<{ address: string; login: Login }> {
    const client = await import('openid-client');
    const codeVerifier = client.randomPKCECodeVerifier();
    const login = { state: client.randomState(), nonce: client.randomNonce(), codeVerifier };
    const address = client.buildAuthorizationUrl(await this.discover(), {
      redirect_uri: redirectUri,
      scope: this.config.scope,
      state: login.state,
      nonce: login.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    });
    return { address: address.href, login };
  }

  /**
   * Whom the provider says that the person is, after it has sent the browser to `address`: in the ID token, and in its userinfo if the ID
   * token lacks a claim. Throws a ClaimFault if a claim is missing or wrong, and says in an error what else is wrong.
   */
  async finish(address: URL, login: Login): Promise<Caller> {
    const sources = await this.masked(() => this.claimsFor(address, login));
    return callerOfClaims(this.config.issuer, this.config.claims, ...sources);
  }

  /** Begins a sign-in of a person whose browser is on another device; undefined if the provider has none. */
  beginDevice(): Promise<DeviceLogin | undefined> {
    return this.masked(async () => {
      const client = await import('openid-client');
      const provider = await this.discover();
      if (provider.serverMetadata().device_authorization_endpoint === undefined) return undefined;
      const begun = await client.initiateDeviceAuthorization(provider, { scope: this.config.scope });
      return {
        deviceCode: begun.device_code,
        userCode: begun.user_code,
        address: begun.verification_uri,
        completeAddress: begun.verification_uri_complete,
        expiresIn: begun.expires_in,
        interval: begun.interval ?? DEVICE_INTERVAL_S,
      };
    });
  }

  /** Whom the provider says that the person is who has signed in on another device, or why there is none yet. Throws as finish does. */
  async finishDevice(deviceCode: string): Promise<Caller | Waiting> {
    const found = await this.masked(async (): Promise<Claims[] | Waiting> => {
      const client = await import('openid-client');
      const provider = await this.discover();
      try {
        const parameters = { device_code: deviceCode };
        return await this.claimsOf(await client.genericGrantRequest(provider, DEVICE_GRANT, parameters));
      } catch (error) {
        if (!(error instanceof client.ResponseBodyError)) throw error;
        const waiting = WAITING.find((one) => one === error.error) ?? own(ALSO_WAITING, error.error);
        if (waiting === undefined) throw error;
        return waiting;
      }
    }, deviceCode);
    return typeof found === 'string'
      ? found
      : callerOfClaims(this.config.issuer, this.config.claims, ...found);
  }

  private async claimsFor(address: URL, { state, nonce, codeVerifier }: Login): Promise<Claims[]> {
    const client = await import('openid-client');
    return this.claimsOf(
      await client.authorizationCodeGrant(await this.discover(), address, {
        pkceCodeVerifier: codeVerifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      }),
    );
  }

  /** The claims of an ID token, and those of the userinfo if it lacks any. */
  private async claimsOf(tokens: TokenEndpointResponse & TokenEndpointResponseHelpers): Promise<Claims[]> {
    const client = await import('openid-client');
    const provider = await this.discover();
    const idToken = tokens.claims();
    if (idToken === undefined) return [];
    const lacking = lackingClaims(idToken, this.config.claims);
    if (lacking.length === 0 || provider.serverMetadata().userinfo_endpoint === undefined) return [idToken];
    const userinfo = client.fetchUserInfo(provider, tokens.access_token, idToken.sub);
    return [
      idToken,
      await userinfo.catch((cause) => {
        throw new Error(`the ID token lacks ${lacking.join(', ')}, and the userinfo failed`, { cause });
      }),
    ];
  }

  /** Asks the provider. Its answers, which the errors of the library hold, can repeat the client secret, and errors are logged. */
  private async masked<T>(ask: () => Promise<T>, ...secrets: string[]): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw new Error(faultText(error, [this.config.clientSecret, this.sentSecret, ...secrets]));
    }
  }

  /**
   * Sends the client secret in the form if the provider takes it there, since providers read special characters in the header in different
   * ways. The header is the default of OpenID Connect (Discovery 1.0, 3).
   */
  private secretSender({
    ClientSecretBasic,
    ClientSecretPost,
    None,
  }: typeof import('openid-client')): ClientAuth {
    const { clientSecret } = this.config;
    if (clientSecret === undefined) return None();
    const [inHeader, inForm] = [ClientSecretBasic(clientSecret), ClientSecretPost(clientSecret)];
    return (server, client, body, headers) => {
      const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
      const send = methods.includes('client_secret_post') ? inForm : inHeader;
      send(server, client, body, headers);
      this.sentSecret = headers.get('authorization')?.replace('Basic ', '');
    };
  }

  /** What the provider says of itself. A failure is asked again by the next login. */
  private discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret, toleranceSeconds } = this.config;
    const metadata = ({ clockTolerance }: typeof import('openid-client')) => ({
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
      [clockTolerance]: toleranceSeconds,
    });
    this.found ??= import('openid-client').then((client) =>
      client.discovery(new URL(issuer), clientId, metadata(client), this.secretSender(client), {
        execute: [
          // Checks the signature of ID tokens, as if they had not come from the provider itself.
          client.enableNonRepudiationChecks,
          // Only for a provider on this machine: the setting refuses others.
          ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : []),
        ],
        timeout: 10,
        [client.customFetch]: limitedFetch,
      }),
    );
    this.found.catch(() => {
      this.found = undefined;
    });
    return this.found;
  }
}
