import { randomUUID } from 'node:crypto';
import { Coalescer } from '../../base/async/coalescer.ts';
import { isRecord } from '../../base/json-value.ts';
import { ControlChannel } from '../../control/channel.ts';
import type { AgentLink } from '../../control/link.ts';
import type { HookEffect } from '../../hooks/hook-effect.ts';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { ConnectContext } from '../../mcp/connection/connect-context.ts';
import { Servers } from '../../mcp/servers/servers.ts';
import { unmatchedDenyRules } from '../../permissions/match.ts';
import type { Pool } from '../../pool/pool.ts';
import { ToolIndex } from '../../pool/search/tool-index.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { isMcpToolName } from '../../protocol/tool-name.ts';
import type { StructuredOutput } from '../builtins/structured-output.ts';
import type { SessionContext } from '../calls/call-context.ts';
import { calledTools, ToolDisclosure } from '../calls/tool-disclosure.ts';
import { UsageTotals } from '../models/usage-totals.ts';
import type { Transcript } from '../transcript/transcript.ts';
import { poolSource } from '../turn/agent-tools.ts';
import { announceCommands, failedTurnMessage, takeNote, takeTurn } from '../turn/take-turn.ts';
import { replayMessage } from '../turn/turn-report.ts';
import { type AgentDefinition, GENERAL_PURPOSE } from './agent-definition.ts';
import { serveRequest } from './control-requests.ts';
import { Conversation } from './conversation.ts';
import type { Session, SessionOptions } from './session.ts';
import {
  checkpointFolder,
  createConnectDeps,
  createHooks,
  createRuleStore,
  createSessionContext,
  ProgramPorts,
} from './session-context.ts';
import { parseUserMessage, SessionStateTracker, TurnQueue, type UserMessage } from './turn-queue.ts';

export type { SessionOptions } from './session.ts';

/** Time limit of SessionEnd hooks. */
const SESSION_END_TIMEOUT_MS = 1_500;
/** How often a message is written to a program that has closed its input, to detect that the program has exited. */
const KEEP_ALIVE_MS = 1_000;

/** The agent side of the control protocol: one agent that a program drives over a link. */
export class AgentSession implements Session {
  readonly options: SessionOptions;
  readonly channel: ControlChannel;
  readonly ports: ProgramPorts;
  readonly servers: Servers;
  readonly connectDeps: ConnectContext;
  readonly hooks: SessionHooks;
  readonly conversation: Conversation;
  readonly context: SessionContext;
  readonly pool: () => Pool;
  readonly disclosure: ToolDisclosure;
  readonly index = new ToolIndex();
  readonly state: SessionStateTracker;
  readonly usageTotals = new UsageTotals();
  /** The usage since the session was opened or cleared, which the budget limits. */
  readonly #ownUsage = new UsageTotals();
  readonly agents: Record<string, AgentDefinition>;
  output: StructuredOutput | undefined;
  announcedCommands = 'clear,compact';
  isInitialized = false;
  modelName: string;
  systemPrompt: string;
  appendSystemPrompt: string;
  readonly #link: AgentLink;
  readonly #turns: TurnQueue;
  readonly #background = new Set<Promise<unknown>>();
  /** If progress arrives faster than the program reads, only the latest of each call is sent. */
  readonly #progress = new Coalescer<Frame>((message) => {
    this.#send(message);
    return this.#link.room?.();
  });
  #id: string;
  #transcript: Transcript | undefined;
  readonly #onAbort = () => this.end();
  readonly #ended = Promise.withResolvers<void>();
  /** Why the session starts; undefined once its SessionStart hooks have run. */
  #startSource: 'startup' | 'resume' | 'clear' | undefined;
  /** The ids of the messages that the program has sent. */
  readonly #received = new Set<string>();
  #hasFailed = false;
  /** Identifies the user message of the current turn in its messages, if the program gave that message an id. */
  #answered: Frame = {};
  /** The id of the current user message, for hook inputs. */
  #promptId: string = randomUUID();
  /** Settles when the link has ended and everything is closed; rejects with the error of the link. */
  readonly done: Promise<void>;

  constructor(link: AgentLink, options: SessionOptions) {
    this.options = options;
    this.#link = link;
    this.#id = options.sessionId ?? randomUUID();
    this.#transcript = options.transcript;
    this.#startSource = options.messages?.length ? 'resume' : 'startup';
    this.modelName = options.modelName;
    this.output = options.output;
    for (const { model, usage } of options.earlierReplies ?? []) this.usageTotals.add(model, usage);
    this.systemPrompt = options.systemPrompt ?? '';
    this.appendSystemPrompt = options.appendSystemPrompt ?? '';
    this.agents = { ...GENERAL_PURPOSE, ...options.agents };
    const rules = createRuleStore(options);
    const channel = () => this.channel;
    const emit = (message: Frame) => this.emit(message);
    this.state = new SessionStateTracker((state) => {
      if (!options.reportsState) return;
      const hidden = options.reportsState === 'to-sdk' ? { sdk_host_only: true } : {};
      emit({ type: 'system', subtype: 'session_state_changed', state, ...hidden });
    });
    this.#turns = new TurnQueue((message, turn) => this.#handle(message, turn), this.state);
    this.ports = new ProgramPorts((body, signal) => this.channel.request(body, { signal }));
    this.hooks = createHooks(options, {
      rules,
      id: () => this.#id,
      transcript: () => this.#transcript,
      promptId: () => this.#promptId,
      channel,
    });
    this.connectDeps = createConnectDeps(options, this);
    this.servers = new Servers(this.connectDeps, {
      onTools: (server) => {
        this.#checkPins(server);
        this.#announceWhileIdle();
      },
      onWarning: (server, message) => options.note?.(`MCP server "${server}": ${message}`),
      onState: (server, { kind, attempt }) => {
        this.#checkPins(server);
        this.#announceWhileIdle();
        // Only the first failure wakes the agent, not every failed retry.
        if (kind === 'connected' || (kind === 'failed' && attempt < 2)) this.#wake(`server ${server}`, kind);
      },
    });
    this.servers.configure(options.servers ?? {});
    this.conversation = new Conversation({
      model: options.model,
      modelName: () => this.modelName,
      hooks: this.hooks,
      transcript: options.transcript,
      title: options.title,
      messages: options.messages ?? [],
      emit,
      onUsage: (model, usage) => this.addUsage(model, usage),
    });
    const { servers, hooks, agents } = this;
    this.context = createSessionContext(options, {
      channel,
      servers,
      hooks,
      rules,
      agents,
      output: () => this.output,
      ownUsage: this.#ownUsage,
      emit,
      readerReady: () => link.room?.(),
      whileWaiting: (work) => this.state.whileWaiting(work),
    });
    this.pool = poolSource(this.context, { lead: () => this.lead });
    this.applyLeadModel();
    this.disclosure = new ToolDisclosure(this.context.toolBudget);
    this.disclosure.load(calledTools(options.messages ?? []));
    this.channel = new ControlChannel(link, {
      request: (subtype, body, served) => serveRequest(this, subtype, body, served),
      message: (message) => this.#receive(message),
    });
    this.done = this.#serve(link);
    // Callers that need the error await `done`.
    this.done.catch(() => {});
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (options.signal?.aborted) this.end();
  }

  /** The id of the session, which `/clear` changes. */
  get id(): string {
    return this.#id;
  }

  /** Whether the last turn failed; the exit code of an agent process depends on it. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Sends a message to the program. */
  emit(message: Frame): void {
    if (message.type === 'result') this.#hasFailed = message.is_error === true;
    if (message.type === 'tool_progress') this.#progress.push(String(message.tool_use_id), message);
    else {
      this.#progress.flush();
      this.#send(message);
    }
  }

  #send(message: Frame): void {
    const answered = answersPrompt(message) ? this.#answered : {};
    const sent = { ...message, ...answered, session_id: this.#id, uuid: message.uuid ?? randomUUID() };
    // Written to the link, because the channel closes with the program's input while answers are still due.
    this.#link.send(sent).catch(() => this.end());
  }

  interrupt(): string[] {
    return this.#turns.interrupt();
  }

  /** Interrupts the running turn and drops the queued ones. */
  end(): void {
    this.#turns.end();
    this.#ended.resolve();
  }

  trackBackground<T>(work: Promise<T>): Promise<T> {
    const settled: Promise<unknown> = work.then(noop, noop).then(() => this.#background.delete(settled));
    this.#background.add(settled);
    return work;
  }

  /** Runs the SessionStart hooks, once per session id. */
  async start(signal: AbortSignal): Promise<HookEffect> {
    const source = this.#startSource;
    if (source === undefined || signal.aborted) return {};
    this.#startSource = undefined;
    if (source !== 'clear') for (const text of unmatchedRules(this)) this.options.note?.(text);
    return this.hooks.run('SessionStart', { source }, signal);
  }

  async clear(promptUuid: string): Promise<void> {
    await this.hooks.run('SessionEnd', { reason: 'clear' }, AbortSignal.timeout(SESSION_END_TIMEOUT_MS));
    const conversationId = randomUUID();
    this.emit({
      type: 'conversation_reset',
      new_conversation_id: conversationId,
      uuid: conversationId,
      trigger: 'clear',
      user_message_uuid: promptUuid,
      timestamp: new Date().toISOString(),
    });
    const ended = this.#transcript;
    this.#id = randomUUID();
    this.#transcript = ended?.successor(this.#id);
    this.conversation.clear(this.#transcript);
    this.context.files.clear();
    this.context.checkpoints?.restart(checkpointFolder(this.#transcript));
    this.#startSource = 'clear';
    this.usageTotals.clear();
    this.#ownUsage.clear();
    await ended?.[Symbol.asyncDispose]();
  }

  get lead(): AgentDefinition | undefined {
    const { agent } = this.options;
    const found = agent !== undefined && Object.hasOwn(this.agents, agent) ? this.agents[agent] : undefined;
    // The built-in kind has a prompt for sub-agents only.
    return found === GENERAL_PURPOSE['general-purpose'] ? undefined : found;
  }

  applyLeadModel(): void {
    const { isModelRequested, modelName, resolveModelName = (name) => name } = this.options;
    const { model } = this.lead ?? {};
    if (model === undefined || isModelRequested || this.modelName !== modelName) return;
    this.modelName = resolveModelName(model);
  }

  addUsage(model: string, usage: Usage): void {
    this.usageTotals.add(model, usage);
    this.#ownUsage.add(model, usage);
  }

  #receive(message: Frame): void {
    const userMessage = parseUserMessage(message);
    if (!userMessage) return;
    const { uuid } = userMessage;
    // A program may send a message again; each is answered once.
    if (uuid !== undefined && this.#received.has(uuid)) {
      if (this.options.replayUserMessages) this.emit(replayMessage(userMessage));
      return;
    }
    if (uuid !== undefined) this.#received.add(uuid);
    this.#turns.push(userMessage);
    this.#wake('the user', 'a message is waiting');
  }

  /** Compares the tools that a server lists with the accepted definitions. */
  #checkPins(key: string): void {
    const server = this.servers?.all.get(key);
    if (server) this.context?.pins.check(key, server);
  }

  /** Announces commands of servers that connect before the first turn or between turns; a turn announces them itself. */
  #announceWhileIdle(): void {
    if (this.isInitialized && this.state.state === 'idle') announceCommands(this);
  }

  /** Ends the `Sleep` call of an agent. */
  #wake(source: string, text: string): void {
    this.context?.wake.nudge({ source, text });
  }

  async #handle(given: UserMessage, turn: AbortController): Promise<void> {
    const { uuid } = given;
    const message = { ...given, uuid: uuid ?? randomUUID() };
    this.#promptId = message.uuid;
    this.#answered = uuid === undefined ? {} : { user_message_uuid: uuid, user_message_uuids: [uuid] };
    const handled = message.wantsTurn ? takeTurn(this, message, turn) : takeNote(this, message);
    await handled.catch((error) => this.emit(failedTurnMessage(error, this)));
  }

  /** Once the program has closed its input, the queued turns still run; if the link fails, they are interrupted. */
  async #serve(link: AgentLink): Promise<void> {
    try {
      await Promise.race([this.channel.done, this.#ended.promise]);
      // A program that closed its input may still read or may have exited; only a write can tell.
      const probe = setInterval(
        () => void link.send({ type: 'keep_alive' }).catch(() => this.end()),
        KEEP_ALIVE_MS,
      );
      await this.#turns.done().finally(() => clearInterval(probe));
    } finally {
      this.#turns.end();
      this.options.signal?.removeEventListener('abort', this.#onAbort);
      await this.#turns.done();
      await Promise.all(this.#background);
      await this.hooks.run('SessionEnd', { reason: 'other' }, AbortSignal.timeout(SESSION_END_TIMEOUT_MS));
      await Promise.all([this.servers, this.context.background].map((it) => it[Symbol.asyncDispose]()));
      await this.connectDeps.eraCache?.flush?.();
      await this.#transcript?.[Symbol.asyncDispose]();
      await link.close();
    }
  }
}

function noop(): void {}

/** Whether a message names the user message that it answers: replies of the main agent and the result. */
function answersPrompt({ type, parent_tool_use_id: parent, event }: Frame): boolean {
  if (type === 'result') return true;
  const isStart = type === 'stream_event' && isRecord(event) && event.type === 'message_start';
  return (type === 'assistant' || isStart) && parent === null;
}

/** Warnings about deny rules that match no tool of a server. There are none until all servers are connected. */
function unmatchedRules({ servers, context }: Session): string[] {
  const all = [...servers.all];
  if (all.some(([, { state }]) => state.kind !== 'connected')) return [];
  const known = all.flatMap(([server, { state }]) =>
    state.kind === 'connected' ? state.tools.map(({ name: tool }) => ({ name: '', server, tool })) : [],
  );
  const rules = context.rules.current().rules.filter(({ tool }) => isMcpToolName(tool));
  return unmatchedDenyRules(rules, known).map(({ message }) => message);
}
