import type { JsonWebKey } from 'node:crypto';
import type {
  AuthorizationServerMetadata,
  OAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/client';
import type { OAuthEntry } from '../../protocol/server-entry.ts';
import { HostError } from '../errors/host-error.ts';

/** The members of a remote entry, after expansion, that decide how requests are authorized. */
export type AuthEntry = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly headersHelper?: string;
  readonly oauth?: OAuthEntry;
  /** `ca` also applies to the authorization server. */
  readonly tls?: { readonly ca?: string };
};

/** Whether tokens are obtained without a person. */
export function isMachineGrant(oauth: OAuthEntry | undefined): boolean {
  return oauth?.grant !== undefined || oauth?.xaa === true;
}

/** A client registration at an authorization server. */
export type StoredClient = {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly token_endpoint_auth_method?: string;
  /** In seconds, as the authorization server sent it; 0 means never. */
  readonly client_secret_expires_at?: number;
  readonly origin: 'pre-registered' | 'metadata-document' | 'registered';
  readonly redirectUri?: string;
};

export type StoredTokens = {
  readonly accessToken: string;
  readonly tokenType: string;
  readonly refreshToken?: string;
  readonly idToken?: string;
  readonly scope?: string;
  /** In milliseconds. */
  readonly obtainedAt: number;
  /** In milliseconds; undefined if the authorization server did not specify a lifetime. */
  readonly expiresAt?: number;
};

/** The result of discovery. It is public and stored, so that a refresh needs no discovery. */
export type AuthorizationServer = {
  /** `authorization_servers[0]` of the resource metadata, or the origin of the MCP server. */
  readonly url: string;
  readonly issuer: string;
  readonly metadata?: AuthorizationServerMetadata;
  readonly resourceMetadata?: OAuthProtectedResourceMetadata;
  /** The resource indicator, exactly as the resource metadata spells it. */
  readonly resource?: string;
};

/** The credentials for one MCP server at one issuer. */
export type Account = {
  /** The URL of the MCP server without its fragment. */
  readonly server: string;
  readonly issuer: string;
  readonly authorizationServer: AuthorizationServer;
  readonly client: StoredClient;
  readonly tokens?: StoredTokens;
  /** When the person signed in, in milliseconds; a refresh does not change it. */
  readonly signedInAt?: number;
  readonly dpopKey?: JsonWebKey;
  /** The scopes that were requested; a sign-in after a 403 requests them again together with the missing ones. */
  readonly wantedScope?: string;
  /** Whether each refresh returns another refresh token; undefined before the first refresh. */
  readonly rotates?: boolean;
  /** Why the tokens were dropped; cleared by a sign-in. */
  readonly lost?: 'invalid_grant' | 'invalid_client' | 'moved';
  /** The issuer of the identity provider whose ID token was exchanged for the tokens. */
  readonly identityProvider?: string;
};

/** A sign-in at the identity provider of an organization, which replaces sign-ins to single servers. */
export type IdpAccount = {
  readonly issuer: string;
  readonly clientId: string;
  readonly authorizationServer: AuthorizationServer;
  /** `idToken` is exchanged for tokens of the servers; `refreshToken` renews it. */
  readonly tokens: StoredTokens;
};

/** Where accounts are stored: sealed with a key of the keychain or of a file, in this process, or by the program. */
export type StoreKind = 'keychain' | 'file' | 'memory' | 'custom';

/**
 * Stores accounts, keyed by the URL of the server, and sign-ins at identity providers, keyed by issuer. A change is
 * visible to other processes and survives a crash as soon as the promise of `write` resolves. Errors never contain
 * stored values.
 */
export interface CredentialStore {
  readonly kind: StoreKind;
  read(server: string): Promise<Account | undefined>;
  /** All accounts, also those of servers that are not configured any more. */
  list(): Promise<readonly Account[]>;
  /** Replaces the account of the server, whatever its issuer. */
  write(account: Account): Promise<void>;
  /** False if there was no account. */
  remove(server: string): Promise<boolean>;
  readIdp(issuer: string): Promise<IdpAccount | undefined>;
  writeIdp(account: IdpAccount): Promise<void>;
  /** False if there was no sign-in. */
  removeIdp(issuer: string): Promise<boolean>;
  /**
   * Runs `work` while no other process runs work of the same key. While it waits for another process it polls
   * `isDone`; as soon as that is true, it resolves with undefined and does not run `work`. An abort ends the wait, not
   * the work.
   */
  exclusive<T>(
    key: string,
    work: () => Promise<T>,
    isDone: () => Promise<boolean>,
    signal?: AbortSignal,
  ): Promise<T | undefined>;
  /**
   * Renews the tokens of an account in a process that goes on if this one is killed. Otherwise a kill between the
   * response of the authorization server and the write would lose the account, since the old refresh token is used up.
   * False if no process can be started; rejects with the `AuthError` of the renewal. Absent if the store cannot be used by
   * other processes.
   */
  renewDetached?(renewal: DetachedRenewal): Promise<boolean>;
  /** Calls `onChange` after this or another process changed the store, until the result is disposed. */
  watch(onChange: () => void): Disposable;
}

/** What another process needs to renew the tokens of an account, besides the store. */
export type DetachedRenewal = {
  /** The name of the server, for messages. */
  readonly server: string;
  readonly entry: AuthEntry;
  /** The access token to replace. */
  readonly refused: string;
  readonly refusal?: Pick<Refusal, 'status' | 'challenge'>;
};

/** The store that a program passes to `createHost({ auth: { store } })`; the values are opaque. */
export type AuthStore = {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
};

/**
 * Asks the person to sign in at `url`. It may return the URL that the browser was redirected to; otherwise the sign-in
 * waits for the redirect to `redirectUri`.
 */
export type OnAuthorize = (
  url: URL,
  context: { readonly server: string; readonly redirectUri: string; readonly signal: AbortSignal },
) => undefined | string | URL | Promise<undefined | string | URL>;

/** Why an authorization failed. */
export type AuthErrorCode =
  | 'denied'
  | 'timeout'
  | 'cancelled'
  | 'state-mismatch'
  | 'issuer-mismatch'
  | 'resource-mismatch'
  | 'insecure-address'
  | 'no-authorization-server'
  | 'registration-required'
  | 'sign-in-required'
  | 'registration-refused'
  | 'unsupported'
  | 'invalid-response'
  | 'invalid-grant'
  | 'invalid-client'
  | 'port-in-use'
  | 'unreachable'
  | 'store-unusable'
  | 'not-remote'
  | 'insufficient-scope';

/** A failed authorization. Its text and fields contain nothing that a server sent, except origins and addresses. */
export class AuthError extends HostError {
  override readonly name = 'McpAuthError';
  readonly authCode: AuthErrorCode;

  constructor(authCode: AuthErrorCode, server: string, detail: string) {
    super(authCode === 'unreachable' ? 'unreachable' : 'unauthorized', server, detail, { hasRun: 'no' });
    this.authCode = authCode;
  }
}

export type AuthHeaders = Readonly<Record<string, string>>;

/** A response with status 401 or 403. */
export type Refusal = {
  readonly status: 401 | 403;
  /** The `WWW-Authenticate` header. */
  readonly challenge: string | undefined;
  readonly dpopNonce: string | undefined;
  /** The authorization headers of the refused request. */
  readonly sent: AuthHeaders;
  readonly url: URL;
  /** Whether the same request was refused before with another token. */
  readonly isRepeated?: boolean;
};

/** Authorizes the requests of one server's transport. It never asks a person: it obtains tokens itself, or fails. */
export interface Authorizer {
  /** Synchronous while a usable token is in memory, unless DPoP is used. */
  headers(request: { readonly method: string; readonly url: URL }): AuthHeaders | Promise<AuthHeaders>;
  /** True if the request may be sent again, with other headers than before. */
  onRefused(refusal: Refusal): Promise<boolean>;
  /** Receives the `DPoP-Nonce` of any response. */
  onNonce(url: URL, nonce: string): void;
  /** Renews the token in the background, before it expires, until the result is disposed. */
  keepFresh(): Disposable;
  /** The last refusal that could not be resolved; a sign-in starts from it. */
  readonly unresolved: Refusal | undefined;
  /** Whether requests may be waiting for a new token. */
  readonly isRenewing: boolean;
}

export type SignInOptions = {
  readonly signal: AbortSignal;
  readonly onAuthorize: OnAuthorize;
  readonly refusal?: Refusal;
  readonly timeoutMs?: number;
};

/** A sign-in that waits for the redirect of the browser. */
export type PendingSignIn<T = Account> = {
  readonly url: URL;
  readonly redirectUri: string;
  readonly state: string;
  readonly port: number;
  /** Takes the URL that the browser was redirected to. */
  complete(redirectUrl: string): void;
  readonly done: Promise<T>;
};

/** How a server is authorized, without any secret value. */
export type AuthStatus = {
  /** Where the credentials come from: `headers` or `headersHelper` of the entry, or an OAuth grant. */
  readonly kind: 'none' | 'header' | 'helper' | 'oauth' | 'client-credentials' | 'jwt-bearer' | 'xaa';
  /**
   * `authorized`: there are credentials, and an access token is valid or can be renewed without a person; `expired`: the
   * access token has expired and cannot be renewed; `needs-auth`: a person must sign in; `none`: there are no
   * credentials.
   */
  readonly state: 'none' | 'authorized' | 'expired' | 'needs-auth';
  /** When the access token expires, in ISO 8601. */
  readonly expiresAt?: string;
  readonly scopes?: readonly string[];
  readonly issuer?: string;
  /** Where the tokens are stored. */
  readonly store?: StoreKind;
};

/** The result of a sign-out. */
export type SignedOut = {
  /** False if no account was stored. */
  readonly removed: boolean;
  /** `no` if the authorization server could not be reached or refused, `unsupported` if it has no revocation endpoint. */
  readonly revoked: 'yes' | 'no' | 'unsupported';
};

/** The authorization of all servers of one host or session. */
export interface HostAuth {
  /** Undefined if the entry sets the credentials itself. */
  authorizer(server: string, entry: AuthEntry): Authorizer | undefined;
  /** Asks a person to sign in; rejects with an `AuthError`. */
  signIn(
    server: string,
    entry: AuthEntry,
    options: Pick<SignInOptions, 'signal' | 'refusal'>,
  ): Promise<Account>;
  /**
   * Starts a sign-in that the caller completes: by opening `url` in a browser, or with the redirect URL. `done` resolves
   * after the account is stored and in use; reconnect the server then. Ends with the signal.
   */
  begin(
    server: string,
    entry: AuthEntry,
    options: Omit<SignInOptions, 'onAuthorize'>,
  ): Promise<PendingSignIn>;
  /** Revokes the tokens if possible, within 5 s, and deletes the account in any case. */
  signOut(server: string, entry: AuthEntry): Promise<SignedOut>;
  /** Reads the store only: nothing is requested from a server. */
  status(server: string, entry: AuthEntry): Promise<AuthStatus>;
  /** Reports the names of servers that a person signed in to, in this process or in another one. */
  onSignedIn(listener: (server: string) => void): Disposable;
  /** Whether this host may ask a person to sign in. */
  readonly isInteractive: boolean;
}
