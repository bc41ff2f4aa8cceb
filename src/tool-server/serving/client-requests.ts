import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { isRecord, sortedJson } from '../../base/json-value.ts';
import { INVALID_PARAMS, RpcMethodError } from '../../protocol/json-rpc.ts';
import type { ContentBlock } from '../../protocol/mcp.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { compileSchema } from '../schema/schema.ts';
import type { ToolSchema } from '../schema/standard-schema.ts';

/** What the user is asked for: the fields of a form, or an action on a web page. */
export type ElicitRequestParams<Schema extends ToolSchema = ToolSchema> =
  | {
      message: string;
      /** A flat object of strings, numbers, booleans and choices. */
      requestedSchema: Schema;
    }
  | { mode: 'url'; message: string; url: string; elicitationId: string };

/** The user's answer to an elicitation; the content of a form is validated against its schema. */
export type ElicitResult<Content = Record<string, unknown>> =
  | { action: 'accept'; content: Content }
  | { action: 'decline' | 'cancel'; content?: undefined };

/** A request for a completion of the client's model. */
export type CreateMessageRequestParams = {
  messages: { role: 'user' | 'assistant'; content: ContentBlock }[];
  maxTokens: number;
  systemPrompt?: string;
  temperature?: number;
  stopSequences?: string[];
  modelPreferences?: {
    hints?: { name?: string }[];
    costPriority?: number;
    speedPriority?: number;
    intelligencePriority?: number;
  };
  metadata?: Record<string, unknown>;
};

/** A completion of the client's model. */
export type CreateMessageResult = {
  role: 'user' | 'assistant';
  content: ContentBlock;
  model: string;
  stopReason?: string;
};

/** A directory or file that the client works on. */
export type Root = { uri: string; name?: string };

/** Options of a request to the client. */
export type ClientRequestOptions = {
  /**
   * Names the request between the rounds of a call of MCP 2026-07-28. Needed if the requests before this one are not the
   * same in every round. Default: the method and the position.
   */
  key?: string;
};

/** A request of a handler to the client. */
export type ClientRequest = {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params: Record<string, unknown>;
  readonly key?: string | undefined;
};

/** The code of MCP 2026-07-28 for a request that needs a capability the client has not declared. */
export const MISSING_CAPABILITY = -32021;

/** Thrown by requests to a client that has not declared the capability for them. */
export class MissingCapabilityError extends SdkError {
  readonly requiredCapabilities: Readonly<Record<string, object>>;

  constructor(requiredCapabilities: Readonly<Record<string, object>>) {
    const [name = ''] = Object.keys(requiredCapabilities);
    super('missing-capability', `The client does not support ${name}`);
    this.requiredCapabilities = requiredCapabilities;
  }
}

/** Sends a request of a handler to the client; undefined capabilities are unknown ones. */
export type ClientPort = {
  readonly capabilities: Readonly<Record<string, unknown>> | undefined;
  request(request: ClientRequest): Promise<Record<string, unknown>>;
};

/** Asks the user for input by a form or a web page, and validates the content of the form. */
export async function elicit(
  port: ClientPort,
  params: ElicitRequestParams,
  { key }: ClientRequestOptions = {},
): Promise<ElicitResult> {
  const isForm = !('url' in params);
  const modes = port.capabilities?.elicitation;
  const isFormOnly = isRecord(modes) && !('form' in modes) && !('url' in modes);
  const isSupported = isRecord(modes) && (isForm ? isFormOnly || 'form' in modes : 'url' in modes);
  if (port.capabilities && !isSupported) {
    throw new MissingCapabilityError({ elicitation: isForm ? { form: {} } : { url: {} } });
  }
  const form = isForm ? compileSchema(params.requestedSchema, 'elicit()') : undefined;
  const { additionalProperties: _, ...requestedSchema } = form?.json ?? {};
  const sent: Record<string, unknown> = form ? { ...params, requestedSchema } : params;
  const { action, content } = await port.request({ method: 'elicitation/create', params: sent, key });
  if (action === 'decline' || action === 'cancel') return { action };
  if (action !== 'accept') throw badAnswer('elicitation/create', '"action" is not accept, decline or cancel');
  if (!form) return { action, content: {} };
  const checked = await form.check(content ?? {});
  if (!checked.ok) throw badAnswer('elicitation/create', checked.message);
  return { action, content: checked.value as Record<string, unknown> };
}

/** Why the run of a handler ends that has requested something of a client of MCP 2026-07-28. */
export const RUNS_AGAIN =
  'The client was asked for input, so this run of the handler ends; the handler runs again when the client sends its response';

/** Requests a completion of the client's model. */
export async function sample(
  port: ClientPort,
  params: CreateMessageRequestParams,
  { key }: ClientRequestOptions = {},
): Promise<CreateMessageResult> {
  requireCapability(port, 'sampling');
  const result = await port.request({ method: 'sampling/createMessage', params, key });
  const isWhole = typeof result.role === 'string' && typeof result.content === 'object' && result.content;
  if (!isWhole) throw badAnswer('sampling/createMessage', '"role" must be a string and "content" an object');
  return result as CreateMessageResult;
}

/** Requests the directories and files that the client works on. */
export async function listRoots(port: ClientPort, { key }: ClientRequestOptions = {}): Promise<Root[]> {
  requireCapability(port, 'roots');
  const { roots } = await port.request({ method: 'roots/list', params: {}, key });
  const isWhole = Array.isArray(roots) && roots.every((it) => isRecord(it) && typeof it.uri === 'string');
  if (!isWhole) throw badAnswer('roots/list', '"roots" is not a list of objects with "uri"');
  return roots as Root[];
}

function requireCapability({ capabilities }: ClientPort, name: string): void {
  if (capabilities && !isRecord(capabilities[name])) throw new MissingCapabilityError({ [name]: {} });
}

function badAnswer(method: string, reason: string): SdkError {
  return new SdkError(
    'client-request-failed',
    `The client answered ${method} with an invalid result: ${reason}`,
  );
}

/** How long a client may keep the state of a call. */
const MAX_STATE_AGE_MS = 24 * 60 * 60 * 1000;

/** Encrypts the `requestState` that clients of MCP 2026-07-28 keep between the rounds of a call. */
export class RequestStateSeal {
  readonly #key: Buffer;

  /** Processes with the same secret open each other's states; the default is a random one. */
  constructor(secret?: string) {
    this.#key = secret === undefined ? randomBytes(32) : createHash('sha256').update(secret).digest();
  }

  /** `purpose` identifies the request; the state can be opened only for the same one. */
  seal(state: RoundState, purpose: string): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(purpose));
    const text = Buffer.concat([cipher.update(JSON.stringify(state)), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url');
  }

  open(sealed: unknown, purpose: string): RoundState {
    try {
      const bytes = Buffer.from(String(sealed), 'base64url');
      if (bytes.toString('base64url') !== sealed)
        throw new Error('the text differs from the one that was sent');
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, 12), {
        authTagLength: 16,
      });
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(12, 28));
      const state: RoundState = JSON.parse(
        Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString(),
      );
      if (Date.now() - state.sealedAt > MAX_STATE_AGE_MS) throw new Error('expired');
      return state;
    } catch {
      throw new RpcMethodError(
        INVALID_PARAMS,
        'requestState is invalid, expired, or belongs to another request: send the request again without it',
      );
    }
  }
}

/** `asked` has the digests of the open requests, `answered` those of earlier ones with their results; both by key. */
type RoundState = {
  readonly sealedAt: number;
  readonly asked: Readonly<Record<string, string>>;
  readonly answered: Readonly<Record<string, Answered>>;
};

/** A digest that is null matches every request: the client sent the result without a state. */
type Answered = readonly [digest: string | null, result: Record<string, unknown>];

type RoundOptions = {
  readonly seal: RequestStateSeal;
  readonly method: string;
  readonly params: Record<string, unknown>;
  /** Identifies the caller if the server checks access tokens. */
  readonly caller: string | undefined;
};

/**
 * One round of a call of MCP 2026-07-28, in which servers send no requests. The first requests without a known result end
 * the call with the result `input_required`; the client sends the call again with the results, and the handler runs again.
 */
export class InputRound {
  readonly #options: RoundOptions;
  readonly #onInputRequired: (result: Record<string, unknown>) => void;
  readonly #known: ReadonlyMap<string, Answered>;
  readonly #used: Record<string, Answered> = {};
  readonly #open = new Map<string, OpenRequest>();
  #asked = 0;

  /** Throws if the parameters are not results of an earlier round. */
  constructor(options: RoundOptions, onInputRequired: (result: Record<string, unknown>) => void) {
    this.#options = options;
    this.#onInputRequired = onInputRequired;
    this.#known = readAnswers(options, () => this.#purpose());
  }

  request({ method, params, key: given }: ClientRequest): Promise<Record<string, unknown>> {
    const key = given ?? `${method.replace('/', '-')}-${++this.#asked}`;
    const digest = digestOf([method, params]);
    const known = this.#known.get(key);
    if (known && (known[0] === null || known[0] === digest)) {
      this.#used[key] = [digest, known[1]];
      return Promise.resolve(known[1]);
    }
    const same = this.#open.get(key);
    if (same && same.digest !== digest) {
      const message = `Two different requests to the client have the key "${key}": give each of them its own key`;
      return Promise.reject(new SdkError('client-request-failed', message));
    }
    if (same) return same.result.promise;
    const result = Promise.withResolvers<Record<string, unknown>>();
    this.#open.set(key, { method, params, digest, result });
    // Requests that the handler makes concurrently are sent together.
    if (this.#open.size === 1) setImmediate(() => this.#end());
    return result.promise;
  }

  #end(): void {
    const open = [...this.#open];
    // Runs `finally` blocks of the handler, whose result is not used any more.
    let reason: unknown = new DOMException(RUNS_AGAIN, 'AbortError');
    try {
      this.#requireInput(open);
    } catch (thrown) {
      // For example a form that cannot be serialized: the handler gets the error.
      reason = thrown;
    }
    for (const [, { result }] of open) result.reject(reason);
  }

  #requireInput(open: readonly (readonly [key: string, OpenRequest])[]): void {
    const state: RoundState = {
      sealedAt: Date.now(),
      asked: Object.fromEntries(open.map(([key, { digest }]) => [key, digest])),
      answered: this.#used,
    };
    this.#onInputRequired({
      resultType: 'input_required',
      inputRequests: Object.fromEntries(open.map(([key, { method, params }]) => [key, { method, params }])),
      requestState: this.#options.seal.seal(state, this.#purpose()),
    });
  }

  #purpose(): string {
    const { method, params, caller = null } = this.#options;
    return digestOf([method, params.name ?? params.uri, params.arguments ?? {}, caller]);
  }
}

type OpenRequest = Pick<ClientRequest, 'method' | 'params'> & {
  readonly digest: string;
  readonly result: PromiseWithResolvers<Record<string, unknown>>;
};

/** The results of earlier rounds, and those that the client sent now. Results of requests that were not made are ignored. */
function readAnswers({ seal, params }: RoundOptions, purpose: () => string): Map<string, Answered> {
  const { inputResponses: results, requestState } = params;
  const isValid = results === undefined || (isRecord(results) && Object.values(results).every(isRecord));
  if (!isValid) throw new RpcMethodError(INVALID_PARAMS, 'inputResponses must be an object of objects');
  const given = Object.entries((results ?? {}) as Record<string, Record<string, unknown>>);
  if (requestState === undefined) return new Map(given.map(([key, result]) => [key, [null, result]]));
  const { asked, answered } = seal.open(requestState, purpose());
  const known = new Map(Object.entries(answered));
  for (const [key, result] of given) {
    const digest = Object.hasOwn(asked, key) ? asked[key] : undefined;
    if (digest !== undefined) known.set(key, [digest, result]);
  }
  return known;
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(sortedJson(value)).digest('base64url');
}
