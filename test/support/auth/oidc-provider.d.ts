/** The part of oidc-provider 9 that the tests use; the package has no types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  type Client = { readonly clientId: string; grantTypeAllowed(grant: string): boolean };
  export type GrantContext = {
    readonly oidc: { readonly client: Client; readonly params: Readonly<Record<string, string | undefined>> };
    body: unknown;
  };

  export default class Provider {
    constructor(issuer: string, configuration: object);
    readonly AccessToken: new (
      values: object,
    ) => { resourceServer: unknown; readonly expiration: number; save(): Promise<string> };
    readonly RefreshToken: { find(value: string): Promise<{ readonly isValid: boolean } | undefined> };
    callback(): RequestListener;
    on(
      event: string,
      listener: (
        context: { readonly oidc?: Partial<GrantContext['oidc']> } | undefined,
        detail: unknown,
      ) => void,
    ): this;
    registerGrantType(
      name: string,
      handler: (context: GrantContext) => Promise<void>,
      parameters: readonly string[],
      repeatable?: readonly string[],
    ): void;
  }

  export const errors: { readonly InvalidGrant: new (detail: string) => Error };
}

declare module 'oidc-provider/lib/helpers/resource_server.js' {
  export default class ResourceServer {
    constructor(identifier: string, settings: object);
  }
}
