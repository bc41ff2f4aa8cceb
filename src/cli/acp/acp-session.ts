import { readFileSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import {
  type AgentContext,
  type ClientCapabilities,
  type ContentBlock,
  type CreateElicitationRequest,
  methods,
  type PromptResponse,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
  type SessionUpdate,
  type Usage,
} from '@agentclientprotocol/sdk/unstable';
import { visibleText } from '../../base/text/display-text.ts';
import type { SDKResultMessage, SDKUserMessage } from '../../protocol/agent-message.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { SDKControlInitializeResponse } from '../../sdk/control-responses.ts';
import type { CanUseTool, ElicitationResult, OnElicitation, Options } from '../../sdk/options/options.ts';
import { ChatConversation, type OpenAgent, ServerWatch } from '../chat/conversation.ts';
import { failureTexts } from '../chat/message-text.ts';
import { permissionRequest } from './permission-request.ts';
import type { StoredMessage } from './session-history.ts';
import { invalidParams, promptMessage } from './session-params.ts';
import { commandsUpdate, SessionUpdates } from './session-updates.ts';
import type { CallPlace } from './tool-call.ts';

/** The client of a session: where its updates and requests are sent. */
export type SessionClient = {
  readonly context: AgentContext;
  readonly capabilities: ClientCapabilities;
  /** Models that can be selected, in addition to those that the agent lists. */
  readonly models: readonly SessionModel[];
};

export type SessionModel = { readonly value: string; readonly name: string; readonly description?: string };

type Turn = { isCancelled: boolean };

type SessionState = {
  modes: SessionModeState;
  configOptions: SessionConfigOption[];
  models?: { currentModelId: string; availableModels: { modelId: string; name: string }[] };
};

/** One ACP session: a conversation with an agent, whose messages become `session/update` notifications. */
export class AcpSession implements AsyncDisposable {
  readonly id: string;
  readonly #client: SessionClient;
  readonly #options: Options;
  readonly #place: CallPlace;
  readonly #updates: SessionUpdates;
  /** Running and queued prompts. */
  readonly #turns = new Set<Turn>();
  #lastTurn: Promise<unknown> = Promise.resolve();
  #conversation: ChatConversation | undefined;
  #initialized: SDKControlInitializeResponse | undefined;
  /** The tokens of the last model request and its reply. */
  #usedTokens = 0;
  #mode: string;
  #model: string | undefined;
  #servers: ServerWatch | undefined;
  /** Failures of servers that the client has not shown yet. */
  #failures: string[] = [];

  private constructor(id: string, client: SessionClient, options: Options) {
    this.id = id;
    this.#client = client;
    this.#mode = options.permissionMode ?? 'default';
    this.#model = options.model;
    this.#place = { cwd: options.cwd ?? process.cwd(), fileText };
    this.#updates = new SessionUpdates({ ...this.#place, ...this.#shown });
    this.#options = {
      ...options,
      includePartialMessages: true,
      canUseTool: this.#canUseTool,
      onElicitation: this.#onElicitation,
    };
  }

  /** Starts the agent of a session. */
  static async open(
    id: string,
    client: SessionClient,
    options: Options,
    open: OpenAgent,
  ): Promise<AcpSession> {
    const session = new AcpSession(id, client, options);
    session.#conversation = await ChatConversation.open(open, session.#options, (message) => {
      for (const update of session.#updates.receive(message)) session.#notify(update);
      if (message.type === 'assistant' && message.parent_tool_use_id === null) {
        session.#usedTokens = totalTokens(message.message.usage);
      }
      if (message.type === 'result') session.#reportResult(message);
      if (message.type === 'system' && message.subtype === 'init') session.#setMode(message.permissionMode);
      session.#servers?.received(message);
    });
    session.#servers = new ServerWatch(session.#agent, (line) => session.#reportFailure(visibleText(line)));
    const initialized = await session.#agent.initializationResult();
    session.#initialized = initialized;
    const { current_permission_mode: mode } = initialized as { current_permission_mode?: unknown };
    if (typeof mode === 'string') session.#mode = mode;
    session.#model ??= initialized.models[0]?.value;
    return session;
  }

  /** The modes and options, for the response to the request that opened the session. Earlier clients read `models`. */
  get state(): SessionState {
    const availableModels = this.#models.map(({ value, ...model }) => ({ modelId: value, ...model }));
    const models =
      this.#model === undefined ? {} : { models: { currentModelId: this.#model, availableModels } };
    return { modes: this.#modes, configOptions: this.configOptions, ...models };
  }

  get configOptions(): SessionConfigOption[] {
    const { currentModeId, availableModes } = this.#modes;
    const modes = availableModes.map(({ id, name, description }) => ({
      value: id,
      name,
      description: description ?? null,
    }));
    const models = this.#models;
    return [
      {
        type: 'select',
        id: 'mode',
        name: 'Mode',
        category: 'mode',
        currentValue: currentModeId,
        options: modes,
      },
      ...(models.length === 0 || this.#model === undefined
        ? []
        : [
            {
              type: 'select' as const,
              id: 'model',
              name: 'Model',
              category: 'model',
              currentValue: this.#model,
              options: models,
            },
          ]),
    ];
  }

  /** Sends a stored conversation to the client. Files may have changed since, so diffs show only what the calls contain. */
  replay(messages: readonly StoredMessage[]): void {
    const { cwd } = this.#place;
    const updates = new SessionUpdates({ cwd, fileText: () => null, ...this.#shown });
    for (const message of messages) {
      for (const update of updates.replay(message)) this.#notify(update);
    }
  }

  /** Sends the slash commands, after the response that tells the client the id of the session. */
  async announceCommands(): Promise<void> {
    await setImmediate();
    if (this.#initialized) this.#notify(commandsUpdate(this.#initialized.commands));
    await this.#servers?.started();
  }

  /** Runs a prompt after the prompts before it. Aborting the signal cancels the prompt. */
  prompt(content: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const message = promptMessage(content);
    if (isClear(message)) {
      // The conversation would continue under an id that the client does not know.
      this.#notify({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: CLEAR_ADVICE } });
      return Promise.resolve({ stopReason: 'end_turn' });
    }
    const turn: Turn = { isCancelled: signal.aborted };
    const cancel = () => void this.#cancel([turn]).catch(() => {});
    this.#turns.add(turn);
    signal.addEventListener('abort', cancel, { once: true });
    const response = this.#lastTurn.then(async (): Promise<PromptResponse> => {
      if (turn.isCancelled) return { stopReason: 'cancelled' };
      try {
        this.#showFailures();
        const result = await this.#openConversation.turn(message);
        await this.#servers?.settled();
        this.#showFailures();
        return promptResponse(result, turn.isCancelled);
      } catch (cause) {
        // Closing the session ends the turn without a result.
        if (turn.isCancelled) return { stopReason: 'cancelled' };
        throw cause;
      }
    });
    const done = response.finally(() => {
      this.#turns.delete(turn);
      signal.removeEventListener('abort', cancel);
    });
    this.#lastTurn = done.catch(() => {});
    return done;
  }

  /** Cancels the running prompt and the queued ones. */
  cancel(): Promise<void> {
    return this.#cancel([...this.#turns]);
  }

  async setMode(mode: string): Promise<void> {
    if (!this.#modes.availableModes.some(({ id }) => id === mode)) {
      throw invalidParams(`unknown mode ${JSON.stringify(mode)}; use an id of "availableModes"`);
    }
    await this.#agent.setPermissionMode(mode as PermissionMode);
    this.#mode = mode;
  }

  /** Changes the mode or the model. */
  async setConfigOption(id: string, value: unknown): Promise<void> {
    if (id === 'mode') return this.setMode(String(value));
    if (id !== 'model')
      throw invalidParams(`unknown option ${JSON.stringify(id)}; the options are "mode" and "model"`);
    if (!this.#models.some((model) => model.value === value)) {
      throw invalidParams(`unknown model ${JSON.stringify(value)}; use a value of the option "model"`);
    }
    await this.#agent.setModel(String(value));
    this.#model = String(value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const turn of this.#turns) turn.isCancelled = true;
    await this.#conversation?.[Symbol.asyncDispose]();
    await this.#lastTurn;
  }

  /** What the client can show, by its capabilities. */
  get #shown(): { showsTerminals: boolean; showsNotices: boolean } {
    const { _meta: meta, session } = this.#client.capabilities;
    return { showsTerminals: meta?.terminal_output === true, showsNotices: Boolean(session?.notices) };
  }

  get #openConversation(): ChatConversation {
    if (!this.#conversation) throw new Error('the session is not open');
    return this.#conversation;
  }

  get #agent(): ChatConversation['client'] {
    return this.#openConversation.client;
  }

  get #modes(): SessionModeState {
    const mayBypass = this.#options.allowDangerouslySkipPermissions === true;
    const offered = MODES.filter(({ id }) => id !== 'bypassPermissions' || mayBypass);
    // The list also contains the current mode if it comes from settings and is not offered.
    const current = offered.some(({ id }) => id === this.#mode) ? [] : [{ id: this.#mode, name: this.#mode }];
    return { currentModeId: this.#mode, availableModes: [...offered, ...current] };
  }

  get #models(): SessionModel[] {
    const listed = (this.#initialized?.models ?? []).map(({ value, displayName, description }) => ({
      value,
      name: displayName,
      ...(description !== '' && { description }),
    }));
    const current = this.#model === undefined ? [] : [{ value: this.#model, name: this.#model }];
    const all: SessionModel[] = [...this.#client.models, ...listed, ...current];
    return all.filter(({ value }, at) => all.findIndex((model) => model.value === value) === at);
  }

  /** Cancels these prompts; the running one is interrupted and ends with its own result. */
  async #cancel(turns: readonly Turn[]): Promise<void> {
    const [running] = this.#turns;
    for (const turn of turns) turn.isCancelled = true;
    if (running && turns.includes(running)) await this.#agent.interrupt();
  }

  /** A mode that the agent itself has changed, for example by an answer to a permission request. */
  #setMode(mode: string | undefined): void {
    if (mode === undefined || mode === this.#mode) return;
    this.#mode = mode;
    this.#notify({ sessionUpdate: 'current_mode_update', currentModeId: mode });
    this.#notify({ sessionUpdate: 'config_option_update', configOptions: this.configOptions });
  }

  /** The time of the last change, and the tokens of the context window in use if the agent knows its size. */
  #reportResult({ modelUsage, total_cost_usd: cost }: SDKResultMessage): void {
    this.#notify({ sessionUpdate: 'session_info_update', updatedAt: new Date().toISOString() });
    const windows = Object.values(modelUsage ?? {}).map(({ contextWindow }) => contextWindow || 0);
    const size = Math.max(0, ...windows);
    if (size === 0 || this.#usedTokens === 0) return;
    const spent = typeof cost === 'number' && cost > 0 ? { cost: { amount: cost, currency: 'USD' } } : {};
    this.#notify({ sessionUpdate: 'usage_update', used: this.#usedTokens, size, ...spent });
  }

  /** Reports a server that cannot be used: as a notice or, if the client shows no notices, as text of the next prompt. */
  #reportFailure(description: string): void {
    this.#options.stderr?.(`${description}\n`);
    if (this.#shown.showsNotices) {
      const title = 'MCP server not available';
      this.#notify({ sessionUpdate: 'notice', severity: 'warning', title, description });
    } else this.#failures.push(description);
  }

  #showFailures(): void {
    for (const text of this.#failures.splice(0)) {
      this.#notify({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `${text}\n\n` } });
    }
  }

  /** Sends an update, in order. Failures are ignored: if the client has disconnected, the session ends anyway. */
  #notify(update: SessionUpdate): void {
    this.#client.context
      .notify(methods.client.session.update, { sessionId: this.id, update })
      .catch(() => {});
  }

  /** Asks the client. Every answer but a selected "allow" denies the call. */
  readonly #canUseTool: CanUseTool = async (tool, input, context) => {
    const { toolUseID: toolCallId, signal } = context;
    // The text before the call is sent first.
    await setImmediate();
    for (const update of this.#updates.announce(toolCallId, tool, input)) this.#notify(update);
    const request = permissionRequest(tool, input, context, this.#place);
    try {
      const { outcome } = await this.#client.context.request(
        methods.client.session.requestPermission,
        { sessionId: this.id, ...request.params },
        { cancellationSignal: signal, stopWaitingOnCancel: true },
      );
      const result = request.resultOf(outcome);
      const [running] = this.#turns;
      if (result.behavior === 'allow') {
        for (const update of this.#updates.started(toolCallId)) this.#notify(update);
      } else if (result.interrupt && running) running.isCancelled = true;
      return result;
    } catch (cause) {
      return { behavior: 'deny', message: `The permission request failed: ${messageOf(cause)}` };
    }
  };

  /** Forwards a server's request for input if the client can show such a request. */
  readonly #onElicitation: OnElicitation = async (request, { signal }) => {
    const { form, url } = this.#client.capabilities.elicitation ?? {};
    const { serverName, mode = 'form', requestedSchema, elicitationId, url: address } = request;
    if (!(mode === 'url' ? url : form)) return { action: 'decline' };
    // The server's name comes first, since the server controls the rest of the text.
    const message = `${serverName}: ${request.message}`;
    const asked =
      mode === 'url'
        ? { mode, message, sessionId: this.id, elicitationId: elicitationId ?? '', url: address ?? '' }
        : { mode, message, sessionId: this.id, requestedSchema: requestedSchema ?? {} };
    try {
      return (await this.#client.context.request(
        methods.client.elicitation.create,
        asked as CreateElicitationRequest,
        { cancellationSignal: signal, stopWaitingOnCancel: true },
      )) as ElicitationResult;
    } catch {
      return { action: 'cancel' };
    }
  };
}

const MODES: readonly { readonly id: PermissionMode; readonly name: string; readonly description: string }[] =
  [
    {
      id: 'default',
      name: 'Default',
      description: 'Asks before calls that are not read-only and that no rule allows',
    },
    { id: 'acceptEdits', name: 'Accept edits', description: 'Edits files of the project without asking' },
    { id: 'plan', name: 'Plan', description: 'Only reads; changes nothing' },
    {
      id: 'dontAsk',
      name: "Don't ask",
      description: 'Denies calls that are not read-only and that no rule allows',
    },
    { id: 'bypassPermissions', name: 'Bypass permissions', description: 'Runs every call without asking' },
  ];

const CLEAR_ADVICE = 'To clear the conversation, start a new session.';

/** Whether a prompt is the command that clears the conversation, or one of its aliases. */
function isClear({ message: { content } }: SDKUserMessage): boolean {
  const last = Array.isArray(content) ? content.findLast(({ type }) => type === 'text') : undefined;
  return last?.type === 'text' && /^\/(?:clear|new|reset)(?:\s|$)/.test(last.text);
}

const MAX_DIFF_BYTES = 1024 * 1024;

/** The text of a file for a diff; `null` for a missing, large or binary one. */
function fileText(path: string): string | null {
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > MAX_DIFF_BYTES) return null;
    const text = readFileSync(path, 'utf8');
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/** The response to a prompt; a failed turn is a JSON-RPC error. */
export function promptResponse(result: SDKResultMessage, isCancelled: boolean): PromptResponse {
  const usage = usageOf(result);
  if (isCancelled || result.terminal_reason?.startsWith('aborted_'))
    return { stopReason: 'cancelled', usage };
  if (result.subtype === 'error_max_turns') return { stopReason: 'max_turn_requests', usage };
  if (result.is_error) {
    const { subtype, terminal_reason } = result;
    throw new RequestError(-32603, failureTexts(result).join('; '), { subtype, terminal_reason });
  }
  const { stop_reason: reason } = result;
  return { stopReason: reason === 'refusal' || reason === 'max_tokens' ? reason : 'end_turn', usage };
}

function usageOf({ usage }: SDKResultMessage): Usage {
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage;
  return {
    totalTokens: totalTokens(usage),
    inputTokens,
    outputTokens,
    cachedReadTokens: usage.cache_read_input_tokens ?? 0,
    cachedWriteTokens: usage.cache_creation_input_tokens ?? 0,
  };
}

type TokenCounts = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
};

function totalTokens(usage: TokenCounts): number {
  const cached = (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
  return usage.input_tokens + usage.output_tokens + cached;
}
