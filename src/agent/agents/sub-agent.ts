import { within } from '../../base/async/timers.ts';
import type { ConnectContext } from '../../mcp/connection/connect-context.ts';
import { Features } from '../../mcp/features/features.ts';
import { Servers } from '../../mcp/servers/servers.ts';
import type { Workspace } from '../../permissions/path.ts';
import type { Rule } from '../../permissions/rule.ts';
import { modeOf, type RuleStore } from '../../permissions/rule-store.ts';
import { type Disclosure, describeDeferred } from '../../pool/disclosure.ts';
import { ToolIndex } from '../../pool/search/tool-index.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { EffortLevel } from '../../protocol/system-message.ts';
import type { AgentDefinition } from '../builtins/agents/agent-definition.ts';
import type { AgentStatus } from '../builtins/agents/agent-service.ts';
import { FileMemory } from '../builtins/files/file-memory.ts';
import type { Services } from '../builtins/services.ts';
import { WakeQueue } from '../builtins/wake-queue.ts';
import type { Agent, Denial, SessionContext } from '../calls/call-context.ts';
import { agentFields } from '../calls/pool-call.ts';
import { ToolDisclosure } from '../calls/tool-disclosure.ts';
import { compact } from '../loop/compact.ts';
import { estimateTokens, shouldCompact } from '../loop/context-usage.ts';
import type { LoopConfig, LoopEvent } from '../loop/loop.ts';
import { textOf } from '../models/message-collector.ts';
import type { ModelMessage } from '../models/model.ts';
import { entryOf } from '../session/conversation.ts';
import { reminderText } from '../session/reminders.ts';
import { SkillTurn } from '../skills/skill-turn.ts';
import { directoryText } from '../tasks/session-worktree.ts';
import { WorkingDirectory } from '../tasks/working-directory.ts';
import { agentWorktreeName, type Worktree, type Worktrees } from '../tasks/worktrees.ts';
import type { Teammate } from '../teams/teammate.ts';
import type { Transcript } from '../transcript/transcript.ts';
import type { SubAgentHeader } from '../transcript/transcript-entry.ts';
import { connectedServers, isInherited, poolSource, serversFor } from '../turn/agent-tools.ts';
import { backgroundFields, runAgent, stopHook, type TurnEnd } from '../turn/run-agent.ts';

/** What a sub-agent shares with its session. */
export type SubAgentDeps = {
  readonly session: SessionContext;
  readonly connect: ConnectContext;
  /** The transcript of a sub-agent; undefined if the session is not stored. */
  openTranscript(agent: SubAgentHeader): Transcript | undefined;
  /** The texts that precede the first prompt of a sub-agent. */
  reminders(signal: AbortSignal): Promise<readonly string[]>;
  /** The section of the system prompt about the environment; may be empty. */
  environment(modelName: string): string;
  /** The services that the tools of an agent use. */
  servicesFor(agent: SubAgent): Services;
  /** The texts of the skills that the definition of an agent lists. */
  preloadedSkills(agent: SubAgent, signal: AbortSignal): Promise<readonly string[]>;
  /** The worktrees that isolated agents work in. */
  readonly worktrees: Worktrees;
  /** Adds to the denials of the next result message. */
  denied(denials: readonly Denial[]): void;
};

export type SubAgentOptions = {
  readonly id: string;
  readonly name?: string | undefined;
  readonly type: string;
  readonly definition: AgentDefinition;
  readonly description: string;
  /** The id of the call that started the agent. */
  readonly toolUseId: string;
  /** Whether the agent works in a git worktree of its own. */
  readonly isIsolated: boolean;
  /** 1 for an agent that the lead started, and one more for each further level. */
  readonly depth: number;
  readonly effort?: EffortLevel | undefined;
  /** The skill that runs in the agent, and the rules of that skill. */
  readonly skill?: string;
  readonly skillRules?: readonly Rule[];
  modelName(): string;
  /** The agent as a member of the team of the session. */
  readonly teammate?: Teammate | undefined;
};

/** How a run of an agent ended. */
export type SubAgentEnd = {
  readonly end: TurnEnd['end'];
  readonly report: string;
  /** The worktree with its changes. */
  readonly worktree?: Worktree;
};

/** One run of an agent. */
export type SubAgentRun = {
  readonly signal: AbortSignal;
  /** Receives each event of the agent's loop; returns the id that the transcript uses for the event. */
  observe(event: LoopEvent): string;
  /** Ends the turn of the agent that waits for this run, because the answer to a permission prompt demands it. */
  interrupt(): void;
};

/** How long a sub-agent waits for servers of its own; servers that connect later are available in a later round. */
const CONNECT_WAIT_MS = 5_000;
/** How many times a SubagentStop hook may make a sub-agent continue. */
const MAX_CONTINUATIONS = 3;

/** An agent that another one has started. It keeps its conversation, so that a message can make it continue after its end. */
export class SubAgent {
  readonly options: SubAgentOptions;
  readonly startedAt = Date.now();
  status: AgentStatus = 'running';
  readonly #deps: SubAgentDeps;
  readonly #context: SessionContext;
  readonly #messages: ModelMessage[] = [];
  readonly #disclosure: ToolDisclosure;
  readonly #wake = new WakeQueue();
  /** What skills have changed for this agent. */
  readonly skillTurn: SkillTurn;
  /** Texts of other agents that wait for the end of a tool round. */
  #inbox: string[] = [];
  readonly #transcript: Transcript | undefined;
  /** The worktree of the current run. */
  #worktree: Worktree | undefined;
  /** The worktree that an isolated agent works in unless it has entered that of a task. */
  #ownWorktree: Worktree | undefined;

  constructor(options: SubAgentOptions, deps: SubAgentDeps) {
    this.options = options;
    this.#deps = deps;
    const { session } = deps;
    const { id, type, toolUseId, description } = options;
    this.#transcript = deps.openTranscript({ id, type, toolUseId, description });
    this.#disclosure = new ToolDisclosure(session.toolBudget);
    this.skillTurn = new SkillTurn(options.skillRules);
    const { teammate, definition } = options;
    const chosen = () => (teammate ? teammate.mode : definition.permissionMode);
    const rules = withMode(session.sharedRules, chosen, session.mayBypass);
    // The getters of the session stay live.
    this.#context = Object.create(session, {
      files: { value: new FileMemory() },
      wake: { value: this.#wake },
      rules: { value: this.skillTurn.over(rules) },
      services: { value: deps.servicesFor(this) },
    });
  }

  /** The members that hooks get. */
  get identity(): { readonly agent_id: string; readonly agent_type: string; readonly cwd?: string } {
    const cwd = this.#worktree?.path;
    return { agent_id: this.options.id, agent_type: this.options.type, ...(cwd !== undefined && { cwd }) };
  }

  get context(): SessionContext {
    return this.#context;
  }

  /** The path of the agent's transcript, or an empty string. */
  get transcriptPath(): string {
    return this.#transcript?.path ?? '';
  }

  /** Adds a text that the agent gets after its current tool calls. */
  push(text: string): void {
    this.#inbox.push(text);
    this.nudge();
  }

  /** Ends the agent's `Sleep` call, because a message has arrived. */
  nudge(): void {
    this.#wake.nudge({ source: 'another agent', text: 'a message has arrived; it follows' });
  }

  /** Lets the agent work on a text to its end. It uses the session's connections, and servers of its own that are closed afterwards. */
  async run(prompt: string, run: SubAgentRun): Promise<SubAgentEnd> {
    if (!this.options.isIsolated) return this.#work(prompt, run);
    const { worktrees } = this.#deps;
    const worktree = await worktrees.create(agentWorktreeName(this.options.id), 'agent', run.signal);
    this.#ownWorktree = worktree;
    this.#enter(worktree);
    let isKept = true;
    try {
      const end = await this.#work(prompt, run);
      this.#enter(worktree);
      isKept = await worktrees.release(worktree);
      return isKept ? { ...end, worktree } : end;
    } finally {
      // The worktree of a failed run is kept with its changes.
      if (isKept) await worktrees.keep(worktree).catch(() => {});
    }
  }

  /** Makes the agent's tools work in a worktree. Rules for paths of the project apply there too. */
  #enter(worktree: Worktree): void {
    const { session } = this.#deps;
    const isolated = (): Workspace => {
      const { directory: _, ...project } = session.workspace();
      return { ...project, cwd: worktree.path, roots: [worktree.path, project.cwd] };
    };
    const directory = new WorkingDirectory(isolated);
    Object.defineProperties(this.#context, {
      directory: { value: directory, configurable: true },
      workspace: { value: () => ({ ...isolated(), ...directory.members }), configurable: true },
    });
    this.#worktree = worktree;
  }

  async #work(prompt: string, run: SubAgentRun): Promise<SubAgentEnd> {
    const { session, connect } = this.#deps;
    const { type, definition } = this.options;
    const onWarning = (server: string, message: string) =>
      session.note(`MCP server "${server}" of the sub-agent ${type}: ${message}`);
    // Only servers of the session are channels.
    const { onNotification: _, ...ownConnect } = connect;
    await using ownServers = new Servers(ownConnect, {
      onWarning,
      connectLimits: session.servers.subAgentConnectLimits,
    });
    for (const entries of definition.mcpServers ?? [])
      if (typeof entries !== 'string') ownServers.add(entries, 'dynamic');
    await within(CONNECT_WAIT_MS, ownServers.settled(), run.signal);
    using ownFeatures = new Features(ownServers, { onWarning });
    const { teammate } = this.options;
    const begun =
      (await teammate?.begin((worktree) => {
        const entered = worktree ?? this.#ownWorktree;
        if (entered) this.#enter(entered);
      }, run.signal)) ?? [];
    const started = await session.hooks.run('SubagentStart', this.identity, run.signal);
    const isFirst = this.#messages.length === 0;
    const reminders = isFirst ? await this.#deps.reminders(run.signal) : [];
    const skills = isFirst ? await this.#deps.preloadedSkills(this, run.signal) : [];
    const texts = [
      ...reminders,
      ...(begun.length > 0 ? [reminderText(begun.join('\n'))] : []),
      ...(this.#worktree && !teammate?.task
        ? [reminderText(directoryText(this.#worktree.path, undefined, true))]
        : []),
      prompt,
      ...skills,
      ...unconnectedServers(ownServers),
      ...(started.additionalContext === undefined ? [] : [started.additionalContext]),
    ];
    const content = texts.map((text) => ({ type: 'text' as const, text }));
    this.#messages.push({ role: 'user', content });
    // Not awaited until the end, so that the sub-agent does not wait for the disk.
    void this.#transcript?.append([{ type: 'user', content }]);
    let report = '';
    const agent = this.#agent(ownServers, ownFeatures, () => report);
    const ended = await runAgent(
      agent,
      this.#context,
      (event) => {
        if (event.kind === 'replied') {
          report = textOf(event.message.content) || report;
          teammate?.answered();
        }
        const entry = entryOf(event, run.observe(event));
        if (entry) void this.#transcript?.append([entry]);
      },
      { signal: run.signal, interrupt: () => run.interrupt() },
    );
    this.#deps.denied(ended.denials);
    await this.#transcript?.suspend();
    return { end: ended.end, report };
  }

  #agent(ownServers: Servers, ownFeatures: Features, report: () => string): Agent {
    const { session } = this.#deps;
    const { definition, toolUseId, depth } = this.options;
    const { teammate } = this.options;
    const owner = { definition, ownServers, depth, isTeammate: teammate !== undefined };
    const pool = poolSource(session, owner);
    const disclosure = this.#disclosure;
    const { maxTurns } = definition;
    const stop = stopHook(MAX_CONTINUATIONS, (isActive, signal) =>
      session.hooks.run(
        'SubagentStop',
        {
          ...agentFields({ agent, session }),
          ...backgroundFields(session),
          stop_hook_active: isActive,
          agent_transcript_path: this.transcriptPath,
          last_assistant_message: report(),
        },
        signal,
      ),
    );
    const agent: Agent = {
      messages: this.#messages,
      effort: this.options.effort,
      modelName: () => this.skillTurn.model ?? this.options.modelName(),
      chosenModel: () => this.skillTurn.model,
      system: () =>
        withDeferred(
          [definition.prompt, this.#deps.environment(this.options.modelName())],
          disclosure.divide(pool()),
        ),
      pool,
      disclosure,
      index: new ToolIndex(),
      ...(maxTurns !== undefined && { maxTurns }),
      parentToolUseId: toolUseId,
      identity: this.identity,
      listed: async () => void (await Promise.all([session.servers.listed(), ownServers.listed()])),
      servers: () => serversFor(session, owner),
      target: (server) => ownServers.target(server) ?? session.servers.target(server),
      connectServer: async () => ({ kind: 'failed', fault: 'sub-agents cannot connect servers' }),
      readableServers: () => [
        ...connectedServers(ownServers),
        ...connectedServers(session.servers).filter((key) => isInherited(session, owner, key)),
      ],
      featuresOf: (server) => (ownServers.all.has(server) ? ownFeatures : session.features),
      compactIfNeeded: this.#compactIfNeeded,
      takeNotices: () => [...this.#inbox.splice(0), ...(teammate?.takeMail() ?? [])],
      // A message that arrived during the last reply is answered before the end.
      beforeEnd: async (signal) =>
        this.#inbox.shift() ?? (await teammate?.next(signal)) ?? (await stop(signal)),
    };
    return agent;
  }

  readonly #compactIfNeeded: NonNullable<LoopConfig['compactIfNeeded']> = async (
    messages,
    { system, tools },
    reason,
    signal,
  ) => {
    const { model } = this.#deps.session;
    if (messages.length < 2) return false;
    if (reason === 'filling' && !shouldCompact(estimateTokens({ system, tools, messages }), model.limits))
      return false;
    const done = await compact(messages, { model, modelName: this.options.modelName(), system, signal });
    if (done.how === 'unchanged') return false;
    messages.splice(0, messages.length, ...done.messages);
    const { preTokens, summary } = done;
    void this.#transcript?.append([
      { type: 'compaction', trigger: 'auto', preTokens, summary, messages: done.messages },
    ]);
    return true;
  };
}

/** The rules of the session with the mode of an agent, which does not apply while the session is in mode `plan`. */
function withMode(store: RuleStore, chosen: () => PermissionMode | undefined, mayBypass: boolean): RuleStore {
  return {
    ...store,
    current: () => {
      const given = store.current();
      const mode = chosen();
      const isUsed = mode !== undefined && (mode !== 'bypassPermissions' || mayBypass);
      return !isUsed || modeOf(given) === 'plan'
        ? given
        : { ...given, modes: { ...given.modes, session: mode } };
    },
  };
}

/** The prompt of the agent, followed by the list of tools that it can search for. */
function withDeferred(prompt: readonly string[], { searchable }: Disclosure): string {
  return [...prompt, describeDeferred(searchable)].filter((part) => part !== '').join('\n\n');
}

/** Names the servers of the sub-agent's definition that are not connected, so that the sub-agent can report them. */
function unconnectedServers(servers: Servers): string[] {
  const missing = [...servers.all].flatMap(([name, { state }]) => {
    if (state.kind === 'connected') return [];
    return [`${name}: ${'fault' in state ? state.fault : 'still connecting'}`];
  });
  return missing.length === 0 ? [] : [`<servers>\nNot connected: ${missing.join('; ')}\n</servers>`];
}
