import type { ClientAuth, Configuration } from 'openid-client';
import type { Caller } from '../api/caller.js';
import { type Claims, callerOfClaims, lackingClaims } from '../api/caller-of-claims.js';
import { limitedFetch } from '../network/outgoing.js';
import { faultText } from '../network/provider-text.js';
import type { OidcConfig } from '../settings/config.js';

/** What a browser keeps on its way to the provider and back. */
export interface Login {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** An OpenID provider at which people sign in: the authorization code flow with PKCE. */
export class OpenIdProvider {
  private found: Promise<Configuration> | undefined;
  /** The client secret as it was sent. */
  private sentSecret: string | undefined;

  constructor(private readonly config: OidcConfig) {}

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

  private async claimsFor(address: URL, { state, nonce, codeVerifier }: Login): Promise<Claims[]> {
    const client = await import('openid-client');
    const provider = await this.discover();
    const tokens = await client.authorizationCodeGrant(provider, address, {
      pkceCodeVerifier: codeVerifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
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
  private async masked<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw new Error(faultText(error, [this.config.clientSecret, this.sentSecret]));
    }
  }

  /**
   * Sends the client secret in the form if the provider takes it there, since providers read special characters in the header in different
   * ways. The header is the default of OpenID Connect (Discovery 1.0, 3).
   */
  private secretSender({ ClientSecretBasic, ClientSecretPost }: typeof import('openid-client')): ClientAuth {
    const { clientSecret } = this.config;
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
      client_secret: clientSecret,
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
