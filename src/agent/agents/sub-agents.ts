import { createHash, randomBytes } from 'node:crypto';
import type { Usage } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { AgentOutput } from '../../protocol/tools/task-tools.ts';
import type { AgentDefinition } from '../builtins/agents/agent-definition.ts';
import type { AgentRequest, AgentRow, AgentService, SentMessage } from '../builtins/agents/agent-service.ts';
import type { ProtocolMessage } from '../builtins/agents/team-service.ts';
import type { Services } from '../builtins/services.ts';
import type { LoopEvent } from '../loop/loop.ts';
import { failedOutcome, type ToolOutcome } from '../loop/run-calls.ts';
import type { BackgroundTasks, TaskHandle } from '../tasks/background-tasks.ts';
import type { Moment, NoticeBatch, NoticeSource } from '../tasks/notices.ts';
import type { Team } from '../teams/team.ts';
import { agentMessageText, LEAD, leadMessageText } from '../teams/team-protocol.ts';
import { AgentReport } from '../turn/agent-report.ts';
import { MAX_AGENT_DEPTH } from '../turn/agent-tools.ts';
import { describeEnd, failedEnd, launched, type RunEnd, reportText } from './agent-results.ts';
import { AgentWork } from './agent-work.ts';
import { SubAgent, type SubAgentDeps } from './sub-agent.ts';

/** What the sub-agents of a session need from it. */
export type SubAgentsDeps = Omit<SubAgentDeps, 'servicesFor'> & {
  readonly tasks: BackgroundTasks;
  /** The kinds of agents, by name. */
  readonly definitions: Readonly<Record<string, AgentDefinition>>;
  /** How many may run at once. */
  readonly maxRunning: number;
  /** Whether the lead has `Read`. */
  canRead(): boolean;
  /** The model of the lead. */
  leadModel(): string;
  /** The name of a model at its provider. */
  resolveModel(name: string): string;
  /** Whether the program gets the texts of agents, and the events of streams. */
  reports(): { readonly forwardsText: boolean; readonly isPartial: boolean };
  emit(message: Frame): void;
  addUsage(model: string, usage: Usage): void;
  /** The services of an agent other than `agents`, which is passed. */
  otherServices(agent: SubAgent, agents: AgentService): Services;
  /** The team, which named agents in the background join; undefined without teams. */
  readonly team?: Team | undefined;
  /** The services that only the lead and its teammates have. */
  teammateServices(): Services;
  /** Registers work that may outlast its turn. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Called when a message for the main conversation waits. */
  onMessage(): void;
};

/** The agent that starts others or sends messages. */
type Caller = {
  readonly agent?: SubAgent;
  /** Ends the turn of the caller. */
  interrupt(): void;
};

/** How many agents are kept with their conversations; an ended agent continues when it gets a message. */
const MAX_AGENTS = 100;

/** The sub-agents of a session: running and ended ones, by id and by name. */
export class SubAgents implements NoticeSource {
  readonly #deps: SubAgentsDeps;
  readonly #agents = new Map<string, SubAgent>();
  readonly #byName = new Map<string, SubAgent>();
  /** The reports of agents in the foreground, which end with the turn. */
  readonly #foreground = new Set<AgentReport>();
  #messages: { readonly from: SubAgent; readonly text: string }[] = [];
  #running = 0;

  constructor(deps: SubAgentsDeps) {
    this.#deps = deps;
  }

  /** The service through which the lead or one agent uses the agents of the session. */
  serviceFor(caller: Caller): AgentService {
    return {
      start: (request, signal) => this.#start(request, caller, signal),
      send: (to, text, toolUseId, protocol) => this.#send(to, text, { toolUseId, protocol, caller }),
      list: () => [...this.#agents.values()].map(rowOf),
      idOf: (name) => this.#find(name)?.options.id,
    };
  }

  /** Ends the reports of agents in the foreground: an interrupted agent may still be finishing after the turn. */
  turnEnded(): void {
    for (const report of this.#foreground) report.end();
    this.#foreground.clear();
  }

  /** Forgets ended agents, because another conversation begins. Running agents continue. */
  clear(): void {
    for (const [id, { status }] of this.#agents) if (status !== 'running') this.#agents.delete(id);
    for (const [name, { status }] of this.#byName) if (status !== 'running') this.#byName.delete(name);
  }

  get hasNotices(): boolean {
    return this.#messages.length > 0 || this.#deps.team?.hasNotices === true;
  }

  /** The messages for the main conversation. */
  take(moment: Moment): NoticeBatch | undefined {
    // With a team, all messages for the lead are in its mailbox.
    if (this.#deps.team) return this.#deps.team.take(moment);
    if (moment === 'prompt' || this.#messages.length === 0) return undefined;
    const taken = this.#messages.splice(0);
    return {
      notices: taken.map(({ from, text }) => ({
        text: agentMessageText(nameOf(from), text),
        origin: { kind: 'peer', from: nameOf(from), senderTaskId: from.options.id, body: text },
      })),
      channelMessages: [],
      stored() {},
      dropped: () => void this.#messages.unshift(...taken),
    };
  }

  async #start(request: AgentRequest, caller: Caller, signal: AbortSignal): Promise<ToolOutcome> {
    const { definitions, maxRunning } = this.#deps;
    const { type } = request;
    const definition = Object.hasOwn(definitions, type) ? definitions[type] : undefined;
    if (!definition) {
      const names = Object.keys(definitions).toSorted().join(', ');
      return failedOutcome(`Agent type '${type}' not found. Available agents: ${names}`);
    }
    const depth = (caller.agent?.options.depth ?? 0) + 1;
    if (depth > MAX_AGENT_DEPTH)
      return failedOutcome(
        `An agent at depth ${MAX_AGENT_DEPTH} cannot start other agents: do the work here`,
      );
    if (this.#running >= maxRunning)
      return failedOutcome(
        `${maxRunning} agents are running, which is the maximum (CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS): wait until one has ended`,
      );
    const isBackground = request.isBackground || definition.background === true;
    const joins = isBackground && request.name !== undefined && this.#deps.team !== undefined;
    const fault = joins ? this.#deps.team?.joinFault(request.name) : undefined;
    if (fault !== undefined) return failedOutcome(fault);
    const agent = this.#create(request, definition, depth, caller, joins);
    const run = this.#run(agent, request.prompt, request.toolUseId, isBackground, caller);
    if (isBackground) return this.#launched(agent, request);
    return this.#waitFor(run, agent, request, signal);
  }

  #create(
    { name, model, effort, description, toolUseId, type, skill, isIsolated, mode }: AgentRequest,
    definition: AgentDefinition,
    depth: number,
    caller: Caller,
    joins: boolean,
  ): SubAgent {
    const { leadModel, resolveModel } = this.#deps;
    const given = model ?? definition.model;
    const id = `a${randomBytes(8).toString('hex')}`;
    const isInWorktree = isIsolated || definition.isolation === 'worktree';
    const membership = {
      name: name ?? id,
      id,
      type,
      mode: mode ?? definition.permissionMode,
      isIsolated: isInWorktree,
      wake: (prompt: string) => this.#wake(agent, prompt, toolUseId, caller),
    };
    const options = {
      id,
      name,
      type,
      definition,
      description,
      toolUseId,
      depth,
      effort: effort ?? definition.effort ?? caller.agent?.options.effort,
      ...(skill && { skill: skill.name, skillRules: skill.rules }),
      isIsolated: isInWorktree,
      teammate: joins ? this.#deps.team?.join(membership) : undefined,
      modelName: () =>
        given === undefined ? (caller.agent?.options.modelName() ?? leadModel()) : resolveModel(given),
    };
    const agent: SubAgent = new SubAgent(options, {
      ...this.#deps,
      servicesFor: (self) => this.#servicesFor(self),
    });
    this.#agents.set(options.id, agent);
    if (name !== undefined) this.#byName.set(name, agent);
    this.#forgetOldest();
    return agent;
  }

  #servicesFor(agent: SubAgent): Services {
    const interrupt = () => void this.#deps.tasks.stop(agent.options.id, 'user');
    const { teammate } = agent.options;
    const agents = this.serviceFor({ agent, interrupt });
    return {
      ...this.#deps.otherServices(agent, agents),
      ...(teammate && { ...this.#deps.teammateServices(), team: teammate }),
      agents,
    };
  }

  #forgetOldest(): void {
    if (this.#agents.size <= MAX_AGENTS) return;
    const oldest = [...this.#agents.values()].find(({ status }) => status !== 'running');
    if (!oldest) return;
    this.#agents.delete(oldest.options.id);
    for (const [name, agent] of this.#byName) if (agent === oldest) this.#byName.delete(name);
  }

  /** Starts a run of an agent. */
  #run(
    agent: SubAgent,
    prompt: string,
    toolUseId: string,
    isBackground: boolean,
    caller: Caller,
  ): AgentRunning {
    const { tasks, emit, reports, addUsage, track } = this.#deps;
    const { id, type, description, depth } = agent.options;
    const { forwardsText, isPartial } = reports();
    const report = new AgentReport({
      parent: agent.options.toolUseId,
      fields: { agent_id: id, subagent_type: type, task_description: description },
      isPartial: isPartial && forwardsText,
      texts: forwardsText ? 'all' : isBackground ? 'final' : 'none',
      emit,
    });
    const work = new AgentWork();
    const stopping = new AbortController();
    const moved = Promise.withResolvers<void>();
    agent.status = 'running';
    this.#running++;
    const handle = tasks.start({
      id,
      type: 'local_agent',
      description,
      toolUseId,
      isBackgrounded: isBackground,
      outputFile: agent.transcriptPath,
      fields: { subagent_type: type, spawn_depth: depth, prompt },
      summary: { agent_type: type },
      ...(agent.options.skill !== undefined && { isAmbient: true }),
      onMoveRequest: () => moved.resolve(),
      stop: async () => {
        stopping.abort();
        await ended;
      },
    });
    if (!isBackground) {
      this.#foreground.add(report);
      report.sendUser([{ type: 'text', text: prompt }]);
    }
    const observe = (event: LoopEvent) => {
      work.observe(event);
      if (event.kind === 'replied') addUsage(event.model, event.message.usage);
      if (event.kind === 'discarded') addUsage(event.model, event.usage);
      if (event.kind === 'call-started') {
        const step = { subagent_type: type, last_tool_name: event.call.name };
        handle.progress({ ...step, ...stepDescription(event.call.input), usage: work.usage });
      }
      return report.handle(event);
    };
    const interrupt = () => (handle.isBackgrounded ? stopping.abort() : caller.interrupt());
    const settle = async (end: RunEnd): Promise<RunEnd> => {
      const { teammate } = agent.options;
      await teammate?.settled();
      this.#running--;
      this.#foreground.delete(report);
      agent.status = end.task.status;
      teammate?.ended(agent.status);
      const { skill } = agent.options;
      const summary = skill === undefined ? end.task.summary : `/${skill}`;
      handle.ended({ ...end.task, summary, usage: work.usage });
      return end;
    };
    const ended = track(
      agent.run(prompt, { signal: stopping.signal, observe, interrupt }).then(
        (end) => settle(describeEnd(agent, end)),
        (cause) => settle(failedEnd(agent, messageOf(cause))),
      ),
    );
    return { handle, work, ended, moved: moved.promise, stop: () => stopping.abort() };
  }

  /** Waits for an agent in the foreground, unless it is moved to the background. */
  async #waitFor(
    { handle, work, ended, moved, stop }: AgentRunning,
    agent: SubAgent,
    request: AgentRequest,
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const end = await Promise.race([ended, moved]);
    signal.removeEventListener('abort', stop);
    if (!end) {
      handle.moveToBackground();
      return this.#launched(agent, request);
    }
    if (end.task.status !== 'completed') return failedOutcome(end.text);
    const programResult: AgentOutput = {
      status: 'completed',
      agentId: agent.options.id,
      agentType: agent.options.type,
      prompt: request.prompt,
      content: [{ type: 'text', text: end.text }],
      resolvedModel: agent.options.modelName(),
      ...work.summary(),
      ...end.worktree,
    };
    return {
      content: [{ type: 'text', text: reportText(agent, end, work) }],
      isError: false,
      programResult,
    };
  }

  #launched(agent: SubAgent, request: AgentRequest): ToolOutcome {
    const { transcriptPath: outputFile } = agent;
    return launched(agent, request, { outputFile, canRead: this.#deps.canRead() });
  }

  /** Continues a teammate that has ended its turn; false if too many agents are running. */
  #wake(agent: SubAgent, prompt: string, toolUseId: string, caller: Caller): boolean {
    if (agent.status === 'running' || this.#running >= this.#deps.maxRunning) return false;
    this.#run(agent, prompt, toolUseId, true, caller);
    return true;
  }

  #send(to: string, text: string, { toolUseId, protocol, caller }: Sending): SentMessage {
    const { team } = this.#deps;
    const sender = caller.agent ? nameOf(caller.agent) : LEAD;
    if (to === LEAD) {
      if (!caller.agent)
        return {
          success: false,
          message: `You are the main conversation — "${LEAD}" addresses you. Send to a named agent instead.`,
        };
      if (team) {
        const fault = team.send(sender, to, text, protocol);
        if (fault !== undefined) return { success: false, message: fault };
        return { success: true, message: QUEUED_FOR_LEAD };
      }
      this.#messages.push({ from: caller.agent, text });
      this.#deps.onMessage();
      return { success: true, message: QUEUED_FOR_LEAD };
    }
    const agent = this.#find(to);
    if (!agent) {
      return {
        success: false,
        message: `No agent named '${to}' is reachable.\nUse ListAgents to see everyone you can message.`,
      };
    }
    if (agent === caller.agent) return { success: false, message: 'You cannot send a message to yourself.' };
    const { id, ref, name } = rowOf(agent);
    const pin = { id, name, ref };
    const { teammate } = agent.options;
    if (team && teammate) {
      const fault = team.send(sender, teammate.name, text, protocol);
      if (fault !== undefined) return { success: false, message: fault, pin };
      const isRunning = agent.status === 'running';
      if (isRunning) agent.nudge();
      else teammate.resume();
      if (isRunning || agent.status !== 'running') return { success: true, message: queuedText(name), pin };
      return { success: true, message: `Resuming agent ${name}`, resumedAgentId: id, pin };
    }
    if (protocol)
      return { success: false, message: `${name} is not a teammate: leave out "type" and send a text`, pin };
    const delivered = caller.agent ? agentMessageText(nameOf(caller.agent), text) : leadMessageText(text);
    if (agent.status === 'running') {
      agent.push(delivered);
      return { success: true, message: queuedText(name), pin };
    }
    if (this.#running >= this.#deps.maxRunning)
      return {
        success: false,
        message: `${name} has ended and cannot continue now, because ${this.#running} agents are running. Send the message again when one of them has ended.`,
        pin,
      };
    this.#run(agent, delivered, toolUseId, true, caller);
    return { success: true, message: `Resuming agent ${name}`, resumedAgentId: id, pin };
  }

  #find(name: string): SubAgent | undefined {
    const found = this.#byName.get(name) ?? this.#agents.get(name);
    return found ?? [...this.#agents.values()].find((agent) => refOf(agent) === name);
  }
}

/** A message that is being sent. */
type Sending = {
  readonly toolUseId: string;
  readonly protocol?: ProtocolMessage | undefined;
  readonly caller: Caller;
};

const QUEUED_FOR_LEAD = "Message queued for the main conversation's next turn.";

function queuedText(name: string): string {
  return `Message queued for delivery to ${name} at its next tool round.`;
}

/** A run in progress. */
type AgentRunning = {
  readonly handle: TaskHandle;
  readonly work: AgentWork;
  readonly ended: Promise<RunEnd>;
  /** Settles when the agent is to be moved to the background. */
  readonly moved: Promise<void>;
  stop(): void;
};

/** The description of a call, if it has one. */
function stepDescription(input: unknown): Frame {
  const { description } = (input ?? {}) as { readonly description?: unknown };
  return typeof description === 'string' && description !== ''
    ? { description: `Running ${description}` }
    : {};
}

function nameOf({ options: { id, name } }: SubAgent): string {
  return name ?? id;
}

/** A short id for people. */
function refOf({ options: { id } }: SubAgent): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 6);
}

function rowOf(agent: SubAgent): AgentRow {
  const { id, type } = agent.options;
  const { status, startedAt } = agent;
  return { name: nameOf(agent), ref: refOf(agent), id, type, status, startedAt };
}
