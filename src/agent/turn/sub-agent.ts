import { randomUUID } from 'node:crypto';
import { within } from '../../base/async/timers.ts';
import type { ConnectContext } from '../../mcp/connection/connect-context.ts';
import { Features } from '../../mcp/features/features.ts';
import { Servers } from '../../mcp/servers/servers.ts';
import { type Disclosure, describeDeferred } from '../../pool/disclosure.ts';
import { ToolIndex } from '../../pool/search/tool-index.ts';
import type { Delegation } from '../builtins/built-in.ts';
import type { Agent, Denial, SessionContext } from '../calls/call-context.ts';
import type { PoolCall } from '../calls/pool-call.ts';
import { ToolDisclosure } from '../calls/tool-disclosure.ts';
import type { LoopEvent } from '../loop/loop.ts';
import { failedOutcome, type ToolOutcome } from '../loop/run-calls.ts';
import { textOf } from '../models/message-collector.ts';
import type { ModelMessage } from '../models/model.ts';
import type { AgentDefinition } from '../session/agent-definition.ts';
import { connectedServers, isInherited, poolSource, serversFor } from './agent-tools.ts';
import { runAgent, stopHook } from './run-agent.ts';

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
        { ...identity, stop_hook_active: isActive, agent_transcript_path: '' },
        stopSignal,
      ),
    ),
  };
  const { end, denials } = await runAgent(
    agent,
    session,
    (event) => {
      if (event.kind === 'replied') lastReply = textOf(event.message.content) || lastReply;
      deps.report(event, call.id);
    },
    { signal, interrupt: () => deps.interrupt() },
  );
  deps.denied(denials);
  if (end.reason === 'failed') return failedOutcome(`The sub-agent failed: ${end.fault}`);
  const note = end.reason === 'max-turns' ? `\n(The sub-agent was stopped after ${end.turns} turns.)` : '';
  const content = `${lastReply || '(The sub-agent returned no text.)'}${note}`;
  return { content, isError: end.reason === 'interrupted' };
}

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
