import { randomUUID } from 'node:crypto';
import { Coalescer } from '../../base/async/coalescer.ts';
import { startTimer } from '../../base/async/timers.ts';
import type { Channels } from '../../channels/channels.ts';
import { ControlChannel } from '../../control/channel.ts';
import type { AgentLink } from '../../control/link.ts';
import type { HookEffect } from '../../hooks/hook-effect.ts';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { ConnectContext } from '../../mcp/connection/connect-context.ts';
import { Servers } from '../../mcp/servers/servers.ts';
import type { Pool } from '../../pool/pool.ts';
import { ToolIndex } from '../../pool/search/tool-index.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import type { SubAgents } from '../agents/sub-agents.ts';
import { type AgentDefinition, BUILT_IN_AGENTS } from '../builtins/agents/agent-definition.ts';
import type { PlanMode } from '../builtins/session/plan-mode.ts';
import type { StructuredOutput } from '../builtins/structured-output.ts';
import type { Denial, SessionContext } from '../calls/call-context.ts';
import { calledTools, ToolDisclosure } from '../calls/tool-disclosure.ts';
import type { Memory } from '../memory/memory.ts';
import { UsageTotals } from '../models/usage-totals.ts';
import type { Skills } from '../skills/skills.ts';
import { BackgroundTasks } from '../tasks/background-tasks.ts';
import { NoticeQueue, type TakenNotices } from '../tasks/notices.ts';
import type { Transcript } from '../transcript/transcript.ts';
import { poolSource } from '../turn/agent-tools.ts';
import type { Environment } from '../turn/environment.ts';
import { announceCommands, failedTurnMessage, takeNote, takeTurn } from '../turn/take-turn.ts';
import { answersPrompt, replayMessage } from '../turn/turn-report.ts';
import { openSessionChannels, unknownChannels } from './channel-notices.ts';
import { createConnectDeps, ProgramPorts } from './connect-deps.ts';
import { Conversation } from './conversation.ts';
import { Reminders } from './reminders.ts';
import { serveRequest } from './requests/control-requests.ts';
import { ResourceWatch } from './resource-watch.ts';
import { unmatchedRules } from './server-status.ts';
import type { Session, SessionOptions } from './session.ts';
import { checkpointFolder, createHooks, createRuleStore, createSessionContext } from './session-context.ts';
import { SessionServices } from './session-services.ts';
import {
  parseUserMessage,
  ReceivedIds,
  reportedState,
  type SessionStateTracker,
  TurnQueue,
  type UserMessage,
} from './turn-queue.ts';

export type { SessionOptions } from './session.ts';

/** Time limit of SessionEnd hooks. */
const SESSION_END_TIMEOUT_MS = 1_500;
/** How long a program may take to send its first prompt before notices start a turn. */
const FIRST_PROMPT_MS = 300;
/** How long notices wait after a result before they start a turn: a program with one prompt closes its input then. */
const CLOSE_WAIT_MS = 100;
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
  readonly notices = new NoticeQueue();
  readonly reminders: Reminders;
  readonly #channels: Channels | undefined;
  readonly tasks: BackgroundTasks;
  readonly #services: SessionServices;
  forwardsSubAgentText = false;
  #denials: Denial[] = [];
  readonly #watch = new ResourceWatch(() =>
    this.#wake('a server', 'a resource has changed; a notice follows'),
  );
  readonly state: SessionStateTracker;
  readonly usageTotals = new UsageTotals();
  /** The usage since the session was opened or cleared, which the budget limits. */
  readonly #ownUsage = new UsageTotals();
  readonly agents: Record<string, AgentDefinition>;
  output: StructuredOutput | undefined;
  announcedCommands = 'clear,compact';
  isInitialized = false;
  modelName: string;
  planModelName: string | undefined;
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
  readonly #closing = new AbortController();
  /** Why the session starts; undefined once its SessionStart hooks have run. */
  #startSource: 'startup' | 'resume' | 'clear' | undefined;
  readonly #received = new ReceivedIds();
  #hasPrompt = false;
  #initializedAt: number | undefined;
  /** When the last message of the program was answered. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  #isInputClosed = false;
  #hasFailed = false;
  /** Identifies the user message of the current turn in its messages, if the program gave that message an id. */
  #promptReference: Frame = {};
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
    this.planModelName = options.planModelName;
    this.output = options.output;
    for (const { model, usage, costUsd } of options.earlierReplies ?? [])
      this.usageTotals.add(model, usage, costUsd);
    this.systemPrompt = options.systemPrompt ?? '';
    this.appendSystemPrompt = options.appendSystemPrompt ?? '';
    this.agents = { ...BUILT_IN_AGENTS, ...options.agents };
    const rules = createRuleStore(
      options,
      () => this.#announceRoots(),
      (before, after) => this.#services.modeChanged(before, after),
    );
    const channel = () => this.channel;
    const emit = (message: Frame) => this.emit(message);
    this.state = reportedState(options.reportsState, emit);
    this.#turns = new TurnQueue(
      (message, turn) => this.#handle(message, turn),
      this.state,
      () => this.#takeNotices(),
    );
    this.ports = new ProgramPorts((body, signal) => this.channel.request(body, { signal }));
    this.hooks = createHooks(options, {
      rules,
      id: () => this.#id,
      transcript: () => this.#transcript,
      promptId: () => this.#promptId,
      channel,
      directory: () => this.context?.directory.base ?? options.workspace.cwd,
    });
    this.tasks = new BackgroundTasks({ emit, onNotice: () => this.#noticesWait() });
    this.reminders = new Reminders((text) => options.note?.(text));
    this.#services = new SessionServices(this, {
      denied: (denials) => void this.#denials.push(...denials),
      onNotice: () => this.#noticesWait(),
    });
    // After the messages of agents: an agent sends them before it ends.
    this.notices.add(this.tasks);
    this.notices.add(this.#watch);
    this.#channels = openSessionChannels(this, () => this.#noticesWait());
    this.connectDeps = createConnectDeps(options, this, this.#channels);
    this.servers = new Servers(this.connectDeps, {
      onTools: (server) => {
        this.#checkPins(server);
        this.#announceWhileIdle();
      },
      onWarning: (server, message) => options.note?.(`MCP server "${server}": ${message}`),
      onState: (server, { kind, attempt }) => {
        this.#checkPins(server);
        this.#announceWhileIdle();
        if (kind === 'connected') this.#channels?.connected(server);
        // Only the first failure wakes the agent, not every failed retry.
        if (kind === 'connected' || (kind === 'failed' && attempt < 2)) this.#wake(`server ${server}`, kind);
      },
    });
    this.servers.configure(options.servers ?? {});
    const { transcript, title, earlierReplies, channelMessages, unansweredMessages } = options;
    this.conversation = new Conversation({
      ...{ transcript, title, earlierReplies, channelMessages, unansweredMessages },
      model: options.model,
      modelName: () => this.modelName,
      hooks: this.hooks,
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
      isWaiting: () => this.state.isWaiting,
      watch: this.#watch,
      tasks: this.tasks,
      relay: () => this.#channels?.relay,
      services: this.#services.forLead(),
      skillTurn: this.skills.turn,
    });
    this.pool = poolSource(this.context, { lead: () => this.lead });
    this.applyLeadModel();
    this.disclosure = new ToolDisclosure(this.context.toolBudget);
    this.disclosure.load(calledTools(options.messages ?? []));
    this.channel = new ControlChannel(link, {
      request: (subtype, body, served) => serveRequest(this, subtype, body, served),
      message: (message) => this.#receive(message),
      answersAfterEnd: true,
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

  get planMode(): PlanMode {
    return this.#services.planMode;
  }

  get scheduleFile(): string | undefined {
    return this.#transcript && `${this.#transcript.path.replace(/\.jsonl$/, '')}/scheduled-tasks.json`;
  }

  get subAgents(): SubAgents {
    return this.#services.subAgents;
  }

  get skills(): Skills {
    return this.#services.skills;
  }

  get memory(): Memory | undefined {
    return this.#services.memory;
  }

  get environment(): Environment | undefined {
    return this.#services.environment;
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
    const members = answersPrompt(message) && { ...this.#promptReference, ...this.#turns.count(message) };
    const sent = { ...message, ...members, session_id: this.#id, uuid: message.uuid ?? randomUUID() };
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
    if (source !== 'clear') {
      const rules = unmatchedRules({ servers: this.servers, rules: this.context.rules.current().rules });
      const channels = this.isInitialized ? [] : unknownChannels(this.options, this.servers);
      for (const text of [...rules, ...channels]) this.options.note?.(text);
    }
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
    this.notices.giveBack();
    this.#services.clear();
    await this.#watch.clear();
    const ended = this.#transcript;
    this.#id = randomUUID();
    this.#transcript = ended?.successor(this.#id);
    this.conversation.clear(this.#transcript);
    this.context.files.clear();
    this.context.checkpoints?.restart(checkpointFolder(this.#transcript));
    this.#channels?.moveTo(this.#id);
    this.#startSource = 'clear';
    this.usageTotals.clear();
    this.#ownUsage.clear();
    await ended?.[Symbol.asyncDispose]();
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get lead(): AgentDefinition | undefined {
    const { agent } = this.options;
    const found = agent !== undefined && Object.hasOwn(this.agents, agent) ? this.agents[agent] : undefined;
    // The built-in kinds have prompts for sub-agents only.
    return found && Object.values(BUILT_IN_AGENTS).includes(found) ? undefined : found;
  }

  applyLeadModel(): void {
    const { isModelRequested, modelName, resolveModelName = (name) => name } = this.options;
    const { model } = this.lead ?? {};
    if (model === undefined || isModelRequested || this.modelName !== modelName) return;
    this.modelName = resolveModelName(model);
    this.planModelName = this.options.planNameOf?.(model);
  }

  addUsage(model: string, usage: Usage): void {
    this.countReply(model, usage);
    this.conversation.recordUsage({ model, usage });
  }

  countReply(model: string, usage: Usage): void {
    this.usageTotals.add(model, usage);
    this.#ownUsage.add(model, usage);
  }

  #receive(message: Frame): void {
    const userMessage = parseUserMessage(message);
    if (!userMessage) return;
    // A program may send a message again; each is answered once.
    if (!this.#received.isNew(userMessage.uuid)) {
      if (this.options.replayUserMessages) this.emit(replayMessage(userMessage));
      return;
    }
    this.#hasPrompt = true;
    this.#turns.push(userMessage);
    this.#wake('the user', 'a message is waiting');
  }

  /** Lets servers know that the directories have changed. The stateless protocol has no such notification. */
  #announceRoots(): void {
    for (const name of this.servers.all.keys()) {
      const connection = this.servers.connection(name);
      if (connection?.era === 'legacy') connection.notify('notifications/roots/list_changed', {});
    }
  }

  /** Waits for the queued turns, for background work, and for the turns that its notifications start. */
  async #finishBackground(): Promise<void> {
    await this.#turns.done();
    const hasNotices = () => this.tasks.hasNotices || this.subAgents.hasNotices;
    while (!this.#turns.isEnded && (this.tasks.running.length > 0 || hasNotices())) {
      const changed = this.tasks.changed();
      const hasStarted = this.#turns.notify();
      await this.#turns.done();
      if (hasStarted) continue;
      // Notices that start no turn, such as after the budget is spent, do not keep the session open.
      if (this.tasks.running.length === 0) return;
      await Promise.race([changed, this.#turns.ended]);
    }
  }

  takeDenials(): readonly Denial[] {
    return this.#denials.splice(0);
  }

  /** Wakes the agent: ends its `Sleep` call, or starts a turn. */
  #noticesWait(): void {
    if (this.tasks.hasNotices) this.#wake('background work', 'a notification has arrived; it follows');
    else if (this.subAgents.hasNotices) this.#wake('an agent', 'a message has arrived; it follows');
    else if (this.#channels?.hasPending('round'))
      this.#wake('a channel', 'a message has arrived; it follows');
    if (this.#acceptsNotices) this.#turns.notify();
  }

  /**
   * Notices start no turn before the program is initialized, in the moment in which it sends its first prompt, and after
   * it has closed its input.
   */
  get #acceptsNotices(): boolean {
    if (this.#isInputClosed || !this.isInitialized) return false;
    this.#initializedAt ??= performance.now();
    return this.#hasPrompt || performance.now() - this.#initializedAt > FIRST_PROMPT_MS;
  }

  /**
   * After the program has closed its input, only background work that it has started is reported. A program may close
   * its input after a result: notices wait for that, and they start no turn that the budget would end.
   */
  #takeNotices(): TakenNotices | undefined {
    if (this.context.budgetError?.() !== undefined) return undefined;
    if (this.#isInputClosed) return this.notices.take('finishing');
    if (!this.#acceptsNotices) return undefined;
    const waitMs = this.#answeredAt + CLOSE_WAIT_MS - performance.now();
    if (waitMs <= 0) return this.notices.take('idle');
    startTimer(waitMs, () => this.#turns.notify());
    return undefined;
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
    this.#promptReference = uuid === undefined ? {} : { user_message_uuid: uuid, user_message_uuids: [uuid] };
    const handled = message.wantsTurn ? takeTurn(this, message, turn) : takeNote(this, message);
    await handled.catch((error) => this.emit(failedTurnMessage(error, this)));
    if (!given.notices) this.#answeredAt = performance.now();
  }

  /** Once the program has closed its input, the queued turns still run; if the link fails, they are interrupted. */
  async #serve(link: AgentLink): Promise<void> {
    try {
      await Promise.race([this.channel.done, this.#ended.promise]);
      this.#isInputClosed = true;
      // A program that closed its input may still read or may have exited; only a write can tell.
      const probe = setInterval(
        () => void link.send({ type: 'keep_alive' }).catch(() => this.end()),
        KEEP_ALIVE_MS,
      );
      await this.#finishBackground().finally(() => clearInterval(probe));
    } finally {
      this.#turns.end();
      this.options.signal?.removeEventListener('abort', this.#onAbort);
      await this.#turns.done();
      await this.tasks[Symbol.asyncDispose]();
      await this.#services[Symbol.asyncDispose]();
      await Promise.all(this.#background);
      this.notices.giveBack();
      await this.hooks.run('SessionEnd', { reason: 'other' }, AbortSignal.timeout(SESSION_END_TIMEOUT_MS));
      this.#closing.abort();
      await this.#watch[Symbol.asyncDispose]();
      await this.#channels?.[Symbol.asyncDispose]();
      await Promise.all([this.servers, this.context.background].map((it) => it[Symbol.asyncDispose]()));
      await this.connectDeps.eraCache?.flush?.();
      await this.#transcript?.[Symbol.asyncDispose]();
      await link.close();
    }
  }
}

function noop(): void {}
