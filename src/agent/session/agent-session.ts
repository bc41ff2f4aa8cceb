import { randomUUID } from 'node:crypto';
import { Coalescer } from '../../base/async/coalescer.ts';
import { ControlChannel } from '../../control/channel.ts';
import type { AgentLink } from '../../control/link.ts';
import type { HookEffect } from '../../hooks/hook-effect.ts';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { ConnectWorld } from '../../mcp/connection/connect-context.ts';
import { Servers } from '../../mcp/servers/servers.ts';
import { unmatchedDenyRules } from '../../permissions/match.ts';
import type { Pool } from '../../pool/pool.ts';
import { ToolIndex } from '../../pool/search/tool-index.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { isMcpToolName } from '../../protocol/tool-name.ts';
import type { SessionContext } from '../calls/call-context.ts';
import { calledTools, ToolDisclosure } from '../calls/tool-disclosure.ts';
import { addUsage, type LoopEvent, NO_USAGE } from '../loop/loop.ts';
import { poolSource } from '../turn/pool-source.ts';
import { failedTurnMessage, takeTurn } from '../turn/take-turn.ts';
import { type AgentDefinition, GENERAL_PURPOSE } from './agent-definition.ts';
import { serveRequest } from './control-requests.ts';
import { Conversation } from './conversation.ts';
import { ProgramPorts } from './program-ports.ts';
import type { Session, SessionOptions } from './session.ts';
import { createConnectDeps, createHooks, createRuleStore, createSessionContext } from './session-context.ts';
import { parseUserMessage, SessionStateTracker, TurnQueue, type UserMessage } from './turn-queue.ts';

export type { SessionOptions } from './session.ts';

/** How long hooks may take when everything else is over. */
const FAREWELL_MS = 1_500;
/** How often a program that has ended its input is asked for a sign of life while a turn runs. */
const PROBE_MS = 1_000;

/** The far side of the control protocol: one agent that a program drives over a link, whoever wrote the program's SDK. */
export class AgentSession implements Session {
  readonly options: SessionOptions;
  readonly id: string;
  readonly channel: ControlChannel;
  readonly ports: ProgramPorts;
  readonly servers: Servers;
  readonly connectWorld: ConnectWorld;
  readonly hooks: SessionHooks;
  readonly conversation: Conversation;
  readonly context: SessionContext;
  readonly pool: () => Pool;
  readonly disclosure: ToolDisclosure;
  readonly index = new ToolIndex();
  readonly state: SessionStateTracker;
  readonly modelUsage: Record<string, Usage> = {};
  readonly agents: Record<string, AgentDefinition>;
  announcedCommands = 'clear,compact';
  modelName: string;
  systemPrompt: string;
  appendSystemPrompt: string;
  readonly #link: AgentLink;
  readonly #turns: TurnQueue;
  readonly #lasting = new Set<Promise<unknown>>();
  /** Progress that comes faster than the program reads is reduced to the latest of each call. */
  readonly #progress = new Coalescer<Frame>((message) => {
    this.#send(message);
    return this.#link.room?.();
  });
  readonly #onAbort = () => this.end();
  readonly #ended = Promise.withResolvers<void>();
  #isStarted = false;
  #hasFailed = false;
  /** The user message that is being worked on, as hooks are told. */
  #promptId: string = randomUUID();
  /** Settles when the program is gone and everything is closed; rejects with what the link died of. */
  readonly done: Promise<void>;

  constructor(link: AgentLink, options: SessionOptions) {
    this.options = options;
    this.#link = link;
    this.id = options.sessionId ?? randomUUID();
    this.modelName = options.modelName;
    this.systemPrompt = options.systemPrompt ?? '';
    this.appendSystemPrompt = options.appendSystemPrompt ?? '';
    this.agents = { ...GENERAL_PURPOSE, ...options.agents };
    const rules = createRuleStore(options);
    const channel = () => this.channel;
    const say = (message: Frame) => this.emit(message);
    this.state = new SessionStateTracker((state) => {
      if (options.reportsState)
        say({ type: 'system', subtype: 'session_state_changed', state, sdk_host_only: true });
    });
    this.#turns = new TurnQueue((line, turn) => this.#take(line, turn), this.state);
    this.ports = new ProgramPorts((body, signal) => this.channel.request(body, { signal }));
    this.hooks = createHooks(options, { id: this.id, rules, promptId: () => this.#promptId, channel });
    this.connectWorld = createConnectDeps(options, this);
    this.servers = new Servers(this.connectWorld, {
      onTools: (server) => this.#compare(server),
      onWarning: (server, message) => options.note?.(`MCP server "${server}": ${message}`),
      onState: (server, { kind, attempt }) => {
        this.#compare(server);
        // That one more retry has failed is no news.
        if (kind === 'connected' || (kind === 'failed' && attempt < 2))
          this.#nudge(`server ${server}`, `it is ${kind}`);
      },
    });
    this.servers.configure(options.servers ?? {});
    this.conversation = new Conversation({
      model: options.model,
      modelName: () => this.modelName,
      hooks: this.hooks,
      transcript: options.transcript,
      messages: options.messages ?? [],
      emit: say,
      onUsage: (model, usage) => this.spend(model, usage),
    });
    const { servers, hooks, agents } = this;
    const waiting: SessionContext['whileWaiting'] = (work) => this.state.whileWaiting(work);
    const readerReady = () => link.room?.();
    this.context = createSessionContext(options, {
      channel,
      servers,
      hooks,
      rules,
      agents,
      emit: say,
      readerReady,
      whileWaiting: waiting,
    });
    this.pool = poolSource(this.context, {});
    this.disclosure = new ToolDisclosure(this.context.toolBudget);
    this.disclosure.load(calledTools(options.messages ?? []));
    this.channel = new ControlChannel(link, {
      request: (subtype, body, served) => serveRequest(this, subtype, body, served),
      message: (message) => this.#receive(message),
    });
    this.done = this.#live(link);
    // Whoever needs it waits for it.
    this.done.catch(() => {});
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (options.signal?.aborted) this.end();
  }

  /** Whether the last turn ended in a fault: what an agent's exit code says. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** A message for the program. */
  emit(message: Frame): void {
    if (message.type === 'result') this.#hasFailed = message.is_error === true;
    if (message.type === 'tool_progress') this.#progress.push(String(message.tool_use_id), message);
    else {
      this.#progress.flush();
      this.#send(message);
    }
  }

  #send(message: Frame): void {
    const sent = { ...message, session_id: this.id, uuid: message.uuid ?? randomUUID() };
    // Past the channel, which is over once the program has said its last: what it asked before is still answered.
    // A program that can no longer hear has gone.
    this.#link.send(sent).catch(() => this.end());
  }

  interrupt(): string[] {
    return this.#turns.interrupt();
  }

  /** Ends now: the running turn is interrupted, none begins after it. */
  end(): void {
    this.#turns.end();
    this.#ended.resolve();
  }

  trackBackground<T>(work: Promise<T>): Promise<T> {
    const settled: Promise<unknown> = work.then(noop, noop).then(() => this.#lasting.delete(settled));
    this.#lasting.add(settled);
    return work;
  }

  /** What hooks have to say about the beginning; nothing the second time. */
  async start(signal: AbortSignal): Promise<HookEffect> {
    if (this.#isStarted || signal.aborted) return {};
    this.#isStarted = true;
    for (const text of unmatchedRules(this)) this.options.note?.(text);
    const source = this.options.messages?.length ? 'resume' : 'startup';
    return this.hooks.run('SessionStart', { source }, signal);
  }

  count(event: LoopEvent): void {
    if (event.kind === 'replied') this.spend(event.message.model, event.message.usage);
  }

  spend(model: string, usage: Usage): void {
    this.modelUsage[model] = addUsage(this.modelUsage[model] ?? NO_USAGE, usage);
  }

  #receive(message: Frame): void {
    const line = parseUserMessage(message);
    if (!line) return;
    this.#turns.push(line);
    this.#nudge('the user', 'a message is waiting');
  }

  /** What a server lists, with what was accepted of it. */
  #compare(key: string): void {
    const server = this.servers?.all.get(key);
    if (server) this.context?.pins.check(key, server);
  }

  /** Wakes an agent that sleeps. */
  #nudge(source: string, text: string): void {
    this.context?.wake.nudge({ source, text });
  }

  async #take(
    { content, uuid = randomUUID(), wantsTurn }: UserMessage,
    turn: AbortController,
  ): Promise<void> {
    this.#promptId = uuid;
    if (wantsTurn)
      await takeTurn(this, content, uuid, turn).catch((fault) => this.emit(failedTurnMessage(fault)));
    else if (content.length > 0) this.conversation.add(content, uuid);
  }

  /** Whoever has said its last still gets what it asked for; a link that died takes the turn along. */
  async #live(link: AgentLink): Promise<void> {
    try {
      await Promise.race([this.channel.done, this.#ended.promise]);
      // Whoever has said its last may still listen, or be dead: only writing tells.
      const probe = setInterval(
        () => void link.send({ type: 'keep_alive' }).catch(() => this.end()),
        PROBE_MS,
      );
      await this.#turns.done().finally(() => clearInterval(probe));
    } finally {
      this.#turns.end();
      this.options.signal?.removeEventListener('abort', this.#onAbort);
      await this.#turns.done();
      await Promise.all(this.#lasting);
      await this.hooks.run('SessionEnd', { reason: 'other' }, AbortSignal.timeout(FAREWELL_MS));
      await Promise.all([this.servers, this.context.leftOvers].map((it) => it[Symbol.asyncDispose]()));
      await this.connectWorld.eras?.flush?.();
      await this.options.transcript?.[Symbol.asyncDispose]();
      await link.close();
    }
  }
}

function noop(): void {}

/**
 * Deny rules about tools of servers that protect from nothing, in words. Only once every server is there: a rule may be
 * about one that is still to come. Names that are no server's tool were looked at when the rules were read.
 */
function unmatchedRules({ servers, context: world }: Session): string[] {
  const all = [...servers.all];
  if (all.some(([, { state }]) => state.kind !== 'connected')) return [];
  const known = all.flatMap(([server, { state }]) =>
    state.kind === 'connected' ? state.tools.map(({ name: tool }) => ({ name: '', server, tool })) : [],
  );
  const rules = world.rules.current().rules.filter(({ tool }) => isMcpToolName(tool));
  return unmatchedDenyRules(rules, known).map(({ message }) => message);
}
