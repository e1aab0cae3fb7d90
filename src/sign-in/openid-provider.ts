import type { Configuration } from 'openid-client';
import { callerOfClaims } from '../api/auth.js';
import type { Caller } from '../api/caller.js';
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
   * Whom the provider says that the person is, after it has sent the browser to `address`. Throws a ZodError where its ID token
   * lacks a claim, and says in an error what else is wrong.
   */
  async finish(address: URL, { state, nonce, codeVerifier }: Login): Promise<Caller> {
    const client = await import('openid-client');
    const tokens = await this.masked(async () =>
      client.authorizationCodeGrant(await this.discover(), address, {
        pkceCodeVerifier: codeVerifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      }),
    );
    return callerOfClaims(this.config.issuer, tokens.claims());
  }

  /** Asks the provider. Its answers, which the errors of the library hold, can repeat the client secret, and errors are logged. */
  private async masked<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw new Error(faultText(error, [this.config.clientSecret]));
    }
  }

  /** What the provider says of itself. A failure is asked again by the next login. */
  private discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret, toleranceSeconds } = this.config;
    const metadata = ({ clockTolerance }: typeof import('openid-client')) => ({
      client_secret: clientSecret,
      [clockTolerance]: toleranceSeconds,
    });
    this.found ??= import('openid-client').then((client) =>
      client.discovery(new URL(issuer), clientId, metadata(client), undefined, {
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
