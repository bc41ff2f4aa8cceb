import { randomUUID } from 'node:crypto';
import { within } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import type { ConnectContext } from '../../mcp/connection/connect-context.ts';
import { Features } from '../../mcp/features/features.ts';
import { Servers } from '../../mcp/servers/servers.ts';
import { type Disclosure, describeDeferred } from '../../pool/disclosure.ts';
import { ToolIndex } from '../../pool/search/tool-index.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import type { AgentOutput } from '../../protocol/tools/task-tools.ts';
import type { Delegation } from '../builtins/built-in.ts';
import type { Agent, Denial, SessionContext } from '../calls/call-context.ts';
import type { PoolCall } from '../calls/pool-call.ts';
import { ToolDisclosure } from '../calls/tool-disclosure.ts';
import { type LoopEvent, NO_USAGE } from '../loop/loop.ts';
import { failedOutcome, type ToolOutcome } from '../loop/run-calls.ts';
import { textOf } from '../models/message-collector.ts';
import type { ModelMessage } from '../models/model.ts';
import type { AgentDefinition } from '../session/agent-definition.ts';
import { connectedServers, isInherited, poolSource, serversFor } from './agent-tools.ts';
import { NO_BACKGROUND, runAgent, stopHook } from './run-agent.ts';
import { completeUsage } from './turn-report.ts';

/** The dependencies of a sub-agent that its delegating agent provides. */
export type SubAgentDeps = {
  readonly session: SessionContext;
  readonly definitions: Readonly<Record<string, AgentDefinition>>;
  readonly connect: ConnectContext;
  /** The model of the delegating agent. */
  modelName(): string;
  /** Reports what a sub-agent does to the program, under the call that started it. */
  report(event: LoopEvent, parent: string): void;
  denied(denials: readonly Denial[]): void;
  /** Ends the turn of the delegating agent too. */
  interrupt(): void;
};

/** How long a sub-agent waits for servers of its own; servers that connect later are available in a later round. */
const CONNECT_WAIT_MS = 5_000;
/** How often a SubagentStop hook may make a sub-agent continue. */
const MAX_CONTINUATIONS = 3;

/** Runs a sub-agent to its end. It uses the session's connections, and servers of its own that are closed afterwards. */
export async function runSubAgent(
  call: PoolCall,
  { prompt, type, model }: Delegation,
  deps: SubAgentDeps,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { session, definitions } = deps;
  const definition = Object.hasOwn(definitions, type) ? definitions[type] : undefined;
  if (!definition) return failedOutcome(`There is no sub-agent of type "${type}"`);
  const identity = { agent_id: randomUUID(), agent_type: type };
  const onWarning = (server: string, message: string) =>
    session.note(`MCP server "${server}" of the sub-agent ${type}: ${message}`);
  await using ownServers = new Servers(deps.connect, {
    onWarning,
    connectLimits: session.servers.subAgentConnectLimits,
  });
  const ownEntries = definition.mcpServers?.filter((it) => typeof it !== 'string') ?? [];
  for (const entries of ownEntries) ownServers.add(entries, 'dynamic');
  await within(CONNECT_WAIT_MS, ownServers.settled(), signal);

  const { additionalContext } = await session.hooks.run('SubagentStart', identity, signal);
  const texts = [
    prompt,
    ...unconnectedServers(ownServers),
    ...(additionalContext === undefined ? [] : [additionalContext]),
  ];
  const work = new SubAgentWork();
  const messages: ModelMessage[] = [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }];
  let lastReply = '';
  using ownFeatures = new Features(ownServers, { onWarning });
  const pool = poolSource(session, { definition, ownServers });
  const disclosure = new ToolDisclosure(session.toolBudget);
  const agent: Agent = {
    messages,
    modelName: () => model ?? definition.model ?? deps.modelName(),
    system: () => withDeferred(definition.prompt, disclosure.divide(pool())),
    pool,
    disclosure,
    index: new ToolIndex(),
    ...(definition.maxTurns !== undefined && { maxTurns: definition.maxTurns }),
    parentToolUseId: call.id,
    identity,
    listed: async () => void (await Promise.all([session.servers.listed(), ownServers.listed()])),
    servers: () => serversFor(session, { ownServers }),
    target: (server) => ownServers.target(server) ?? session.servers.target(server),
    connectServer: async () => ({ kind: 'failed', fault: 'sub-agents cannot connect servers' }),
    readableServers: () => [
      ...connectedServers(ownServers),
      ...connectedServers(session.servers).filter((key) =>
        isInherited(session, { definition, ownServers }, key),
      ),
    ],
    featuresOf: (server) => (ownServers.all.has(server) ? ownFeatures : session.features),
    delegate: async () => failedOutcome('Sub-agents cannot delegate'),
    beforeEnd: stopHook(MAX_CONTINUATIONS, (isActive, stopSignal) =>
      session.hooks.run(
        'SubagentStop',
        {
          ...identity,
          ...NO_BACKGROUND,
          stop_hook_active: isActive,
          agent_transcript_path: '',
          last_assistant_message: lastReply,
        },
        stopSignal,
      ),
    ),
  };
  const { end, denials } = await runAgent(
    agent,
    session,
    (event) => {
      if (event.kind === 'replied') lastReply = textOf(event.message.content) || lastReply;
      work.observe(event);
      deps.report(event, call.id);
    },
    { signal, interrupt: () => deps.interrupt() },
  );
  deps.denied(denials);
  if (end.reason === 'budget') return failedOutcome(`The sub-agent was stopped: ${end.stopReason}`);
  if (end.reason === 'failed') return failedOutcome(`The sub-agent failed: ${end.fault}`);
  const note = end.reason === 'max-turns' ? `\n(The sub-agent was stopped after ${end.turns} turns.)` : '';
  const content = `${lastReply || '(The sub-agent returned no text.)'}${note}`;
  if (end.reason === 'interrupted') return { content, isError: true };
  const programResult: AgentOutput = {
    status: 'completed',
    agentId: identity.agent_id,
    agentType: type,
    prompt,
    content: [{ type: 'text', text: content }],
    resolvedModel: agent.modelName(),
    ...work.summary(),
  };
  return { content, isError: false, programResult };
}

/** Counts what a sub-agent does, for the program. */
class SubAgentWork {
  readonly #startedAt = performance.now();
  readonly #tools: string[] = [];
  readonly #stats = {
    readCount: 0,
    searchCount: 0,
    bashCount: 0,
    editFileCount: 0,
    linesAdded: 0,
    linesRemoved: 0,
    otherToolCount: 0,
  };
  #usage: Usage = NO_USAGE;

  observe(event: LoopEvent): void {
    if (event.kind === 'replied') this.#usage = event.message.usage;
    if (event.kind !== 'call-finished') return;
    const { name } = event.call;
    this.#tools.push(name);
    this.#stats[Object.hasOwn(COUNTED, name) ? (COUNTED[name] as Counted) : 'otherToolCount'] += 1;
    const { programResult } = event.outcome;
    if (!isRecord(programResult) || !Array.isArray(programResult.structuredPatch)) return;
    for (const { lines } of programResult.structuredPatch as { lines: string[] }[]) {
      this.#stats.linesAdded += lines.filter((line) => line.startsWith('+')).length;
      this.#stats.linesRemoved += lines.filter((line) => line.startsWith('-')).length;
    }
  }

  /** The usage is that of the last reply, which contains the whole conversation. */
  summary() {
    const usage = completeUsage(this.#usage);
    return {
      totalToolUseCount: this.#tools.length,
      totalDurationMs: Math.round(performance.now() - this.#startedAt),
      totalTokens:
        usage.input_tokens +
        usage.cache_creation_input_tokens +
        usage.cache_read_input_tokens +
        usage.output_tokens,
      usage,
      toolsUsed: [...new Set(this.#tools)],
      toolStats: this.#stats,
    };
  }
}

type Counted = 'readCount' | 'searchCount' | 'bashCount' | 'editFileCount';

const COUNTED: Readonly<Record<string, Counted>> = {
  Read: 'readCount',
  Glob: 'searchCount',
  Grep: 'searchCount',
  Bash: 'bashCount',
  Edit: 'editFileCount',
  Write: 'editFileCount',
};

/** Its prompt, followed by the tools it can search for. */
function withDeferred(prompt: string, { searchable }: Disclosure): string {
  return [prompt, describeDeferred(searchable)].filter((part) => part !== '').join('\n\n');
}

/** Tells the sub-agent which of its own servers are missing, so that it can report it. */
function unconnectedServers(servers: Servers): string[] {
  const missing = [...servers.all].flatMap(([name, { state }]) => {
    if (state.kind === 'connected') return [];
    return [`${name}: ${'fault' in state ? state.fault : 'still connecting'}`];
  });
  return missing.length === 0 ? [] : [`<servers>\nNot connected: ${missing.join('; ')}\n</servers>`];
}
