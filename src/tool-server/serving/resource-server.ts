import { createHash } from 'node:crypto';
import type { createRemoteJWKSet, JWTPayload, JWTVerifyGetKey } from 'jose';
import { isRecord } from '../../base/json-value.ts';
import {
  type Check,
  callback,
  isListOf,
  isString,
  nonEmptyString,
  numberFrom,
  optionFault,
  stringList,
} from '../../base/option-check.ts';
import { truncate, visibleJson } from '../../base/text/display-text.ts';
import { messageOf, SdkError } from '../../protocol/sdk-error.ts';
import type { CallerAuth } from '../context.ts';
import { guard } from './http-exchange.ts';

/** The token check of `listen({ auth })`: which access tokens a tool server accepts. */
export type ResourceServerOptions = {
  /** Issuer of the accepted tokens, or several: the `iss` claim, and the authorization servers that clients are sent to. */
  issuer: string | readonly string[];
  /** The required `aud` claim; default: the URL of the endpoint. Behind a reverse proxy, the public URL. */
  audience?: string;
  /** Scopes that every request requires. */
  scopes?: readonly string[];
  /** Scopes that the calls of a tool require in addition, by the name of the tool. */
  toolScopes?: Readonly<Record<string, readonly string[]>>;
  /** URL of the keys of the issuer; default: `jwks_uri` of its metadata. Requires a single issuer. */
  jwksUri?: string;
  /** Accepted difference between the clocks, in seconds; default 5. */
  clockToleranceS?: number;
  /** Accepted signature algorithms; default: RS, PS and ES with 256 to 512 bits, and EdDSA. */
  algorithms?: readonly string[];
  /**
   * Called when the keys of an issuer cannot be loaded, at start or later. It is called again only if loading fails after
   * it has succeeded.
   */
  onKeyFailure?: (error: SdkError) => void;
};

/** Why a request is refused. */
export type Denial = {
  readonly status: 401 | 403 | 503;
  readonly error?: 'invalid_token' | 'insufficient_scope';
  readonly message: string;
  readonly scopes: readonly string[];
};

const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** Values of `typ`, in lower case: RFC 9068, and issuers that do not distinguish access tokens from other JWTs. */
const ACCEPTED_TYPES: ReadonlySet<string> = new Set(['at+jwt', 'application/at+jwt', 'jwt']);
const BOUND_TOKEN = 'the access token is bound to a key (cnf), and this server accepts only bearer tokens';
const MAX_TOKEN_CHARS = 8 * 1024;
const MAX_DOCUMENT_CHARS = 256 * 1024;
const FETCH_TIMEOUT_MS = 5_000;
const KEYS_MAX_AGE_MS = 10 * 60_000;
const KEYS_COOLDOWN_MS = 30_000;
/** Time between two attempts to load the keys of an issuer: callers without a valid token cannot cause more requests. */
const RETRY_MS = 5_000;
const MAX_ISSUER_CHARS = 200;
/** How long a verified token is accepted without being verified again. */
const VERIFIED_MAX_AGE_MS = 60_000;
const MAX_VERIFIED = 1000;

const issuers = (value: unknown): readonly string[] => (isString(value) ? [value] : (value as string[]));
/** The check of an issuer. */
export const secureUrl: Check = {
  what: 'an https URL (http only for loopback addresses)',
  holds: (value) => isString(value) && isSecure(value),
};
const asymmetric: Check = {
  what: `a list of ${ALGORITHMS.join(', ')}`,
  holds: (value) => isListOf(value, (it) => ALGORITHMS.includes(it as string)) && (value as []).length > 0,
};
const OPTIONS = {
  issuer: {
    what: `${secureUrl.what}, or a list of them`,
    holds: (value: unknown) =>
      isString(value) || Array.isArray(value)
        ? issuers(value).length > 0 && isListOf(issuers(value), secureUrl.holds)
        : false,
  },
  audience: nonEmptyString,
  scopes: stringList,
  toolScopes: {
    what: 'an object whose values are lists of strings',
    holds: (value: unknown) => isRecord(value) && Object.values(value).every(stringList.holds),
  },
  jwksUri: secureUrl,
  clockToleranceS: numberFrom(0),
  algorithms: asymmetric,
  onKeyFailure: callback,
} satisfies Record<string, Check>;

/** The first invalid option; undefined if all are valid. */
export function resourceServerFault(options: unknown): string | undefined {
  if (!isRecord(options)) return '"auth" must be an object';
  if (options.issuer === undefined) return '"auth.issuer" is required';
  const fault = optionFault(options, OPTIONS, (name) => `"auth.${name}"`);
  if (fault !== undefined) return fault;
  const isShared = options.jwksUri !== undefined && issuers(options.issuer).length > 1;
  return isShared ? '"auth.jwksUri" requires a single "auth.issuer"' : undefined;
}

/** Verifies the access tokens (JWT, RFC 9068) of the requests to one endpoint. */
export class ResourceServer {
  readonly #options: ResourceServerOptions;
  readonly #issuers: readonly string[];
  /** Set when the endpoint listens. */
  #endpoint = '';
  readonly #keys: ReadonlyMap<string, IssuerKeys>;
  readonly #closing = new AbortController();
  /** Verified tokens by their hash: the tokens themselves are not kept. */
  readonly #verified = new Map<string, { auth: CallerAuth; until: number }>();

  constructor(options: ResourceServerOptions) {
    this.#options = options;
    this.#issuers = issuers(options.issuer);
    const { signal } = this.#closing;
    this.#keys = new Map(this.#issuers.map((issuer) => [issuer, new IssuerKeys(issuer, options, signal)]));
  }

  /** The identifier of the protected resource. */
  get resource(): string {
    return this.#options.audience ?? this.#endpoint;
  }

  /** Sets the URL at which the server listens, and starts to load the keys. */
  start(endpoint: string): void {
    this.#endpoint = endpoint;
    for (const keys of this.#keys.values()) void keys.load();
  }

  close(): void {
    this.#closing.abort();
  }

  /** Checks the `Authorization` header. Synchronous for a token that was verified shortly before. */
  check(authorization: string | undefined): CallerAuth | Denial | Promise<CallerAuth | Denial> {
    const [, token] = /^Bearer +([\w~+/.=-]+) *$/i.exec(authorization ?? '') ?? [];
    if (token === undefined) return this.#denied('the request requires an access token', undefined);
    if (token.length > MAX_TOKEN_CHARS) return this.#denied('the access token is too long', 'invalid_token');
    const hash = createHash('sha256').update(token).digest('base64');
    const known = this.#verified.get(hash);
    if (known && known.until > Date.now()) return known.auth;
    this.#verified.delete(hash);
    return this.#verify(token, hash);
  }

  /** The time in milliseconds from which the token of a caller is refused. */
  expiryOf({ claims }: CallerAuth): number {
    return (Number(claims.exp) + clockTolerance(this.#options)) * 1000;
  }

  /** The refusal of a message for which the caller lacks scopes; undefined if it may be handled. */
  checkScopes(message: unknown, { scopes }: CallerAuth): Denial | undefined {
    const required = [...(this.#options.scopes ?? []), ...this.#toolScopes(message)];
    if (required.every((scope) => scopes.includes(scope))) return undefined;
    const detail = `the access token lacks a required scope (required: ${required.join(' ')})`;
    return { status: 403, error: 'insufficient_scope', message: detail, scopes: required };
  }

  /** Metadata of the protected resource (RFC 9728). */
  metadata(): object {
    const { scopes = [], toolScopes = {} } = this.#options;
    const supported = [...new Set([...scopes, ...Object.values(toolScopes).flat()])];
    return {
      resource: this.resource,
      authorization_servers: this.#issuers,
      bearer_methods_supported: ['header'],
      ...(supported.length > 0 && { scopes_supported: supported }),
    };
  }

  /** The `WWW-Authenticate` header of a refusal. */
  challenge({ error, message, scopes }: Denial): string {
    const { origin, pathname } = new URL(URL.canParse(this.resource) ? this.resource : this.#endpoint);
    const parts = {
      ...(error && { error, error_description: message }),
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      resource_metadata: `${origin}${METADATA_PATH}${pathname === '/' ? '' : pathname}`,
    };
    const quoted = Object.entries(parts).map(([name, value]) => `${name}="${value.replace(/["\\]/g, '')}"`);
    return `Bearer ${quoted.join(', ')}`;
  }

  #toolScopes(message: unknown): readonly string[] {
    if (!isRecord(message) || message.method !== 'tools/call' || !isRecord(message.params)) return [];
    const { toolScopes = {} } = this.#options;
    const { name } = message.params;
    return isString(name) && Object.hasOwn(toolScopes, name) ? (toolScopes[name] ?? []) : [];
  }

  #denied(message: string, error: Denial['error'] = undefined, status: 401 | 503 = 401): Denial {
    return { status, ...(error && { error }), message, scopes: this.#options.scopes ?? [] };
  }

  async #verify(token: string, hash: string): Promise<CallerAuth | Denial> {
    const { decodeJwt, errors, jwtVerify } = await import('jose');
    const { algorithms = ALGORITHMS } = this.#options;
    try {
      const { iss } = decodeJwt(token);
      const keys = this.#keys.get(iss ?? '');
      if (!keys) return this.#denied('the issuer of the access token is not accepted here', 'invalid_token');
      const { issuer } = keys;
      const { payload, protectedHeader } = await jwtVerify(token, keys.find, {
        issuer,
        audience: this.resource,
        algorithms: [...algorithms],
        clockTolerance: clockTolerance(this.#options),
        requiredClaims: ['exp'],
      });
      const { typ } = protectedHeader;
      if (typ !== undefined && !ACCEPTED_TYPES.has(String(typ).toLowerCase()))
        return this.#denied('the JWT is not an access token (typ)', 'invalid_token');
      // The proof that the sender has the key (DPoP, mutual TLS) is not verified.
      if (payload.cnf !== undefined) return this.#denied(BOUND_TOKEN, 'invalid_token');
      const auth = callerOf(issuer, payload);
      // Sessions are bound to the caller.
      if (auth.subject === undefined && auth.clientId === undefined)
        return this.#denied('the access token has neither a subject nor a client id', 'invalid_token');
      this.#remember(hash, auth, Number(payload.exp) * 1000);
      return auth;
    } catch (thrown) {
      // The text of an error can contain claims; only its kind is reported.
      if (thrown instanceof errors.JWTExpired)
        return this.#denied('the access token has expired', 'invalid_token');
      return thrown instanceof errors.JOSEError
        ? this.#denied('the access token is invalid', 'invalid_token')
        : this.#denied('the keys of the issuer cannot be loaded', undefined, 503);
    }
  }

  #remember(hash: string, auth: CallerAuth, expiresAt: number): void {
    if (this.#verified.size >= MAX_VERIFIED) {
      for (const oldest of this.#verified.keys()) {
        this.#verified.delete(oldest);
        break;
      }
    }
    this.#verified.set(hash, { auth, until: Math.min(expiresAt, Date.now() + VERIFIED_MAX_AGE_MS) });
  }
}

/** The path of the metadata; the path of the resource follows. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** Codes of errors that are not caused by the token. */
const KEY_FAILURES: ReadonlySet<string> = new Set([
  'ERR_JOSE_GENERIC',
  'ERR_JWKS_TIMEOUT',
  'ERR_JWKS_INVALID',
]);

function clockTolerance({ clockToleranceS = 5 }: ResourceServerOptions): number {
  return clockToleranceS;
}

function callerOf(issuer: string, claims: JWTPayload): CallerAuth {
  const { scope, scp, sub, client_id: clientId, azp } = claims;
  const listed = isString(scope) ? scope.split(' ') : isString(scp) ? scp.split(' ') : (scope ?? scp);
  const client = clientId ?? azp;
  return {
    issuer,
    // An empty string does not identify a caller.
    subject: isString(sub) && sub !== '' ? sub : undefined,
    clientId: isString(client) && client !== '' ? client : undefined,
    scopes: isListOf(listed, isString) ? (listed as string[]).filter((it) => it !== '') : [],
    claims,
  };
}

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

/** The keys of one issuer. */
class IssuerKeys {
  readonly issuer: string;
  readonly #options: ResourceServerOptions;
  readonly #closing: AbortSignal;
  #opened: Promise<RemoteKeys> | undefined;
  /** The URL of the keys without its query, for messages. */
  #address = '';
  /** When a failed lookup of the metadata may be repeated. */
  #openAfter = 0;
  /** When the keys may be requested again. */
  #fetchAfter = 0;
  #isReported = false;

  constructor(issuer: string, options: ResourceServerOptions, closing: AbortSignal) {
    this.issuer = issuer;
    this.#options = options;
    this.#closing = closing;
  }

  /** Loads the keys before a request needs them. */
  async load(): Promise<void> {
    try {
      await (await this.#open()).reload();
    } catch (thrown) {
      this.#report(thrown);
    }
  }

  /** The key of a token. Rejects with a JOSE error only if the token is invalid. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    try {
      const key = await (await this.#open())(header, token);
      this.#isReported = false;
      return key;
    } catch (thrown) {
      const { errors } = await import('jose');
      if (thrown instanceof errors.JOSEError && !KEY_FAILURES.has(thrown.code)) throw thrown;
      throw this.#report(thrown);
    }
  };

  #report(thrown: unknown): SdkError {
    const error =
      thrown instanceof SdkError
        ? thrown
        : new SdkError(
            'serve-failed',
            `the keys of the issuer ${this.issuer} cannot be loaded from ${this.#address}: ${failureText(thrown)}`,
            { cause: thrown },
          );
    if (!this.#isReported && !this.#closing.aborted) {
      this.#isReported = true;
      guard(() => this.#options.onKeyFailure?.(error));
    }
    return error;
  }

  #open(): Promise<RemoteKeys> {
    if (!this.#opened || Date.now() >= this.#openAfter) {
      this.#openAfter = Number.POSITIVE_INFINITY;
      this.#opened = this.#create();
      this.#opened.catch(() => {
        this.#openAfter = Date.now() + RETRY_MS;
      });
    }
    return this.#opened;
  }

  async #create(): Promise<RemoteKeys> {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    const url = new URL(this.#options.jwksUri ?? (await findKeys(this.issuer, this.#closing)));
    this.#address = url.origin + url.pathname;
    return createRemoteJWKSet(url, {
      timeoutDuration: FETCH_TIMEOUT_MS,
      cooldownDuration: KEYS_COOLDOWN_MS,
      cacheMaxAge: KEYS_MAX_AGE_MS,
      [customFetch]: (url: string, init: RequestInit) => this.#fetch(url, init),
    });
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    if (Date.now() < this.#fetchAfter) throw new Error('the last attempt was less than 5 seconds ago');
    this.#fetchAfter = Date.now() + RETRY_MS;
    const signals = init.signal ? [init.signal, this.#closing] : [this.#closing];
    const response = await fetch(url, { ...init, signal: AbortSignal.any(signals) });
    const { status } = response;
    return status === 200 ? new Response(await readLimited(response)) : response;
  }
}

/** `jwks_uri` of the metadata of an issuer (RFC 8414, then OpenID Connect Discovery). */
async function findKeys(issuer: string, closing: AbortSignal): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const faults: string[] = [];
  for (const url of [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]) {
    try {
      const { issuer: named, jwks_uri: found } = await fetchMetadata(url, closing);
      if (named !== issuer) faults.push(`${url}: ${issuerFault(named)}`);
      else if (isString(found) && isSecure(found)) return found;
      else faults.push(`${url}: the metadata has no usable jwks_uri`);
    } catch (thrown) {
      faults.push(`${url}: ${failureText(thrown)}`);
    }
  }
  const detail = `the keys of the issuer ${issuer} cannot be found (${faults.join('; ')})`;
  throw new SdkError('serve-failed', detail);
}

function issuerFault(named: unknown): string {
  return isString(named)
    ? `the issuer in the metadata is ${visibleJson(JSON.stringify(truncate(named, MAX_ISSUER_CHARS)))}`
    : 'the metadata names no issuer';
}

/** The reason of a failed request; `fetch` states it in the cause. */
function failureText(thrown: unknown): string {
  return messageOf(thrown instanceof TypeError && thrown.cause !== undefined ? thrown.cause : thrown);
}

async function fetchMetadata(url: string, closing: AbortSignal): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { accept: 'application/json' },
    signal: AbortSignal.any([AbortSignal.timeout(FETCH_TIMEOUT_MS), closing]),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`HTTP status ${response.status}`);
  }
  const text = await readLimited(response);
  let metadata: unknown;
  try {
    metadata = JSON.parse(text);
  } catch {
    // The error would quote the text of the server.
  }
  if (!isRecord(metadata)) throw new Error('the metadata is not a JSON object');
  return metadata;
}

async function readLimited({ body }: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const part of body ?? []) {
    text += decoder.decode(part, { stream: true });
    if (text.length > MAX_DOCUMENT_CHARS) throw new Error('the response is too large');
  }
  return text;
}

function isSecure(text: string): boolean {
  const url = URL.parse(text);
  if (url?.username !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK_NAMES.has(url.hostname));
}

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
