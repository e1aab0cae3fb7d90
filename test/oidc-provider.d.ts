declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  /** What tests use of the provider, which brings no types. */
  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
    use(
      middleware: (context: { body?: { id_token?: string } }, next: () => Promise<void>) => Promise<void>,
    ): void;
  }
}
