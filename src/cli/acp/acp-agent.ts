import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import {
  type AgentApp,
  type AgentCapabilities,
  type AgentContext,
  agent,
  type ClientCapabilities,
  type InitializeResponse,
  type LoadSessionResponse,
  methods,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  RequestError,
  type Stream,
} from '@agentclientprotocol/sdk/unstable';
import { isRecord } from '../../base/json-value.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import type { Options } from '../../sdk/options/options.ts';
import type { OpenAgent } from '../chat/conversation.ts';
import { AcpSession, type SessionModel } from './acp-session.ts';
import { oneLine, type SessionHistory } from './session-history.ts';
import { invalidParams, type SessionParams, sessionOptions } from './session-params.ts';

type AcpDeps = {
  readonly version: string;
  /** The options of every session, from the flags of the command. */
  readonly options: Options;
  readonly history: SessionHistory;
  readonly open: OpenAgent;
  /** Models that can be selected, in addition to those that the agent lists. */
  readonly models: readonly SessionModel[];
  /** Why no model is configured; undefined if one is. */
  missingModel(cwd: string): Promise<string | undefined>;
};

const CAPABILITIES: AgentCapabilities = {
  loadSession: true,
  promptCapabilities: { image: true, audio: false, embeddedContext: true },
  mcpCapabilities: { http: true, sse: true },
  sessionCapabilities: {
    list: {},
    delete: {},
    fork: {},
    resume: {},
    close: {},
    title: {},
    additionalDirectories: {},
  },
};

/** Serves one client of the Agent Client Protocol until it disconnects or the signal aborts. */
export async function serveAcp(stream: Stream, deps: AcpDeps, signal: AbortSignal): Promise<void> {
  await using server = new AcpAgent(deps);
  const connection = server.app().connect(stream);
  const close = () => connection.close();
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  await connection.closed;
  signal.removeEventListener('abort', close);
}

/** The sessions of one client, and the requests that open, use and close them. */
class AcpAgent implements AsyncDisposable {
  readonly #deps: AcpDeps;
  readonly #sessions = new Map<string, AcpSession>();
  /** Sessions that are being opened, closed or deleted. */
  readonly #changing = new Map<string, Promise<void>>();
  #capabilities: ClientCapabilities = {};
  #isClosed = false;

  constructor(deps: AcpDeps) {
    this.#deps = deps;
  }

  /** The handlers by method. Parameters have been checked against the schema of the protocol. */
  app(): AgentApp {
    const { session } = methods.agent;
    return (
      agent({ name: 'toolplane' })
        .onRequest(methods.agent.initialize, ({ params }) => this.#initialize(params.clientCapabilities))
        .onRequest(methods.agent.authenticate, ({ params }) => {
          throw invalidParams(
            `unknown authentication method ${JSON.stringify(params.methodId)}; none is needed`,
          );
        })
        .onRequest(session.new, ({ params, client }) => this.#new(params, client))
        .onRequest(session.load, ({ params, client }) =>
          this.#exclusively(params.sessionId, () => this.#load(params, client)),
        )
        .onRequest(session.resume, ({ params, client }) =>
          this.#exclusively(params.sessionId, () => this.#resume(params, client)),
        )
        .onRequest(session.fork, ({ params, client }) => this.#fork(params, client))
        .onRequest(session.list, async ({ params }) => {
          const listed = await this.#deps.history.list(params);
          if (!listed) throw invalidParams('unknown cursor; use "nextCursor" of an earlier response');
          return listed;
        })
        .onRequest(session.close, ({ params }) =>
          this.#exclusively(params.sessionId, () => this.#close(params.sessionId)),
        )
        .onRequest(session.delete, ({ params: { sessionId } }) =>
          this.#exclusively(sessionId, async () => {
            await this.#close(sessionId);
            await this.#requireStored(sessionId);
            await this.#deps.history.delete(sessionId);
          }),
        )
        .onRequest(session.setTitle, async ({ params }) => {
          const title = oneLine(params.title);
          if (title === '') throw invalidParams('the title is empty');
          await this.#requireStored(params.sessionId);
          await this.#deps.history.rename(params.sessionId, title);
          return { title };
        })
        .onRequest(session.prompt, ({ params, signal }) =>
          this.#session(params.sessionId).prompt(params.prompt, signal),
        )
        .onNotification(session.cancel, ({ params }) => this.#sessions.get(params.sessionId)?.cancel())
        .onRequest(session.setMode, async ({ params }) => {
          await request(this.#session(params.sessionId).setMode(params.modeId));
        })
        .onRequest(session.setConfigOption, async ({ params }) => {
          const target = this.#session(params.sessionId);
          await request(target.setConfigOption(params.configId, params.value));
          return { configOptions: target.configOptions };
        })
        // A method of earlier versions of the protocol, which clients still use.
        .onRequest('session/set_model', parseSetModel, async ({ params }) => {
          await request(this.#session(params.sessionId).setConfigOption('model', params.modelId));
          return {};
        })
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#sessions.keys()].map((id) => this.#close(id)));
  }

  #initialize(capabilities: ClientCapabilities = {}): InitializeResponse {
    this.#capabilities = capabilities;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: CAPABILITIES,
      agentInfo: { name: 'toolplane', title: 'Toolplane', version: this.#deps.version },
      authMethods: [],
    };
  }

  async #new(params: SessionParams, client: AgentContext): Promise<NewSessionResponse> {
    const sessionId = randomUUID();
    const session = await this.#open(sessionId, params, { sessionId }, client);
    return { sessionId, ...session.state };
  }

  /** Opens a stored session and sends its conversation before the response. */
  async #load(
    params: SessionParams & { readonly sessionId: string },
    client: AgentContext,
  ): Promise<LoadSessionResponse> {
    const session = await this.#reopen(params, client);
    session.replay(await this.#stored(params));
    return session.state;
  }

  /** Opens a stored session without sending its conversation. */
  async #resume(
    params: SessionParams & { readonly sessionId: string },
    client: AgentContext,
  ): Promise<LoadSessionResponse> {
    return (await this.#reopen(params, client)).state;
  }

  /** Opens a stored session; an open session is closed first, so that all of its conversation is stored. */
  async #reopen(
    params: SessionParams & { readonly sessionId: string },
    client: AgentContext,
  ): Promise<AcpSession> {
    const { sessionId } = params;
    await this.#stored(params);
    await this.#close(sessionId);
    return this.#open(sessionId, params, { resume: sessionId }, client);
  }

  async #fork(
    params: SessionParams & { readonly sessionId: string },
    client: AgentContext,
  ): Promise<NewSessionResponse> {
    await this.#stored(params);
    const sessionId = randomUUID();
    const fork = { resume: params.sessionId, forkSession: true, sessionId };
    const session = await this.#open(sessionId, params, fork, client);
    return { sessionId, ...session.state };
  }

  /** The conversation of a stored session. */
  async #stored({ cwd, sessionId }: SessionParams & { readonly sessionId: string }) {
    const messages = await this.#deps.history.read(cwd, sessionId);
    if (!messages) throw RequestError.sessionNotFound(sessionId);
    return messages;
  }

  async #requireStored(sessionId: string): Promise<void> {
    if (!(await this.#deps.history.has(sessionId))) throw RequestError.sessionNotFound(sessionId);
  }

  async #open(id: string, params: SessionParams, start: Options, context: AgentContext): Promise<AcpSession> {
    const { options, open, models, missingModel } = this.#deps;
    const chosen = { ...sessionOptions(options, params), ...start };
    if (!statSync(params.cwd, { throwIfNoEntry: false })?.isDirectory()) {
      throw invalidParams(`the working directory ${params.cwd} does not exist or is not a directory`);
    }
    const missing = await missingModel(params.cwd);
    if (missing !== undefined) throw new RequestError(-32000, missing);
    const client = { context, capabilities: this.#capabilities, models };
    const session = await request(AcpSession.open(id, client, chosen, open));
    if (this.#isClosed) {
      await session[Symbol.asyncDispose]();
      throw new RequestError(-32603, 'the client has disconnected');
    }
    this.#sessions.set(id, session);
    void session.announceCommands();
    return session;
  }

  #session(id: string): AcpSession {
    const session = this.#sessions.get(id);
    if (!session) throw RequestError.sessionNotFound(id);
    return session;
  }

  /** Opens, closes or deletes a session after earlier such requests for it, so that no agent is replaced while it opens. */
  async #exclusively<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#changing.get(id) ?? Promise.resolve();
    const done = before.then(work);
    const settled = done.then(
      () => {},
      () => {},
    );
    this.#changing.set(id, settled);
    try {
      return await done;
    } finally {
      if (this.#changing.get(id) === settled) this.#changing.delete(id);
    }
  }

  /** Cancels the prompts of a session and ends its agent. An unknown session is closed already. */
  async #close(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    await session?.[Symbol.asyncDispose]();
  }
}

function parseSetModel(params: unknown): { readonly sessionId: string; readonly modelId: string } {
  if (!isRecord(params) || typeof params.sessionId !== 'string' || typeof params.modelId !== 'string') {
    throw invalidParams('sessionId and modelId must be strings');
  }
  return { sessionId: params.sessionId, modelId: params.modelId };
}

/** Converts errors of the agent to JSON-RPC errors; a refused option or control request becomes "Invalid params". */
async function request<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (!(cause instanceof SdkError)) throw cause;
    const isRefused = REFUSED.has(cause.code);
    throw new RequestError(isRefused ? -32602 : -32603, cause.message, { code: cause.code });
  }
}

const REFUSED: ReadonlySet<string> = new Set(['bad-option', 'bad-server', 'control-failed']);
