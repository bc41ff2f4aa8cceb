import { randomUUID } from 'node:crypto';
import { within } from '../../base/async/timers.ts';
import type { ConnectWorld } from '../../mcp/connection/connect-context.ts';
import { Features } from '../../mcp/features/features.ts';
import { Servers } from '../../mcp/servers/servers.ts';
import { type Division, sayDeferred } from '../../pool/disclosure.ts';

import { ToolIndex } from '../../pool/search/tool-index.ts';
import type { Delegation } from '../builtins/built-in.ts';
import type { Denial, SessionWorld, Worker } from '../calls/call-context.ts';
import type { PoolCall } from '../calls/pool-call.ts';
import { ToolShelf } from '../calls/tool-disclosure.ts';
import type { LoopEvent } from '../loop/loop.ts';
import { failedOutcome, type ToolOutcome } from '../loop/run-calls.ts';
import type { ModelMessage } from '../models/model.ts';
import { connectedServers, isInherited, poolSource, serversFor } from './pool-source.ts';
import { runTurn } from './run-agent.ts';

export type SubAgentWorld = {
  readonly session: SessionWorld;
  readonly connect: ConnectWorld;
  /** The model of the one who delegates. */
  modelName(): string;
  /** Tells the program what a sub-agent says and does, under the call that started it. */
  report(event: LoopEvent, parent: string): void;
  denied(denials: readonly Denial[]): void;
  /** Ends the turn of the one who delegates, too: whoever said so wants everything to stop. */
  interrupt(): void;
};

/** How long it waits for servers of its own; those that come later are there in a later round. */
const PATIENCE_MS = 5_000;
/** How often a hook may send a sub-agent on. */
const MOST_CONTINUATIONS = 3;

/** Runs a sub-agent to its end: on the session's live connections, and on servers of its own that end with it. */
export async function runSubAgent(
  call: PoolCall,
  { prompt, type, model }: Delegation,
  world: SubAgentWorld,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { session } = world;
  const definition = Object.hasOwn(session.agents, type) ? session.agents[type] : undefined;
  if (!definition) return failedOutcome(`There is no sub-agent of type "${type}"`);
  const who = { agent_id: randomUUID(), agent_type: type };
  const onWarning = (server: string, message: string) =>
    session.note(`MCP server "${server}" of the sub-agent ${type}: ${message}`);
  await using ownServers = new Servers(world.connect, {
    onWarning,
    dialLimits: session.servers.subAgentDials,
  });
  const own = definition.mcpServers?.filter((it) => typeof it !== 'string') ?? [];
  for (const entries of own) ownServers.add(entries, 'dynamic');
  await within(PATIENCE_MS, ownServers.settled(), signal);

  const started = await session.hooks.run('SubagentStart', who, signal);
  const hooked = started.additionalContext === undefined ? [] : [started.additionalContext];
  const context = [...unconnected(ownServers), ...hooked];
  const messages: ModelMessage[] = [
    { role: 'user', content: [prompt, ...context].map((text) => ({ type: 'text', text })) },
  ];
  let said = '';
  let continuations = 0;
  using ownFeatures = new Features(ownServers, { onWarning });
  const pool = poolSource(session, { definition, ownServers });
  const shelf = new ToolShelf(session.toolBudget);
  const worker: Worker = {
    messages,
    modelName: () => model ?? definition.model ?? world.modelName(),
    system: () => withDeferred(definition.prompt, shelf.divide(pool())),
    pool,
    shelf,
    index: new ToolIndex(),
    ...(definition.maxTurns !== undefined && { maxTurns: definition.maxTurns }),
    parentToolUseId: call.id,
    who,
    listed: async () => void (await Promise.all([session.servers.listed(), ownServers.listed()])),
    servers: () => serversFor(session, { ownServers }),
    target: (server) => ownServers.target(server) ?? session.servers.target(server),
    connectServer: async () => ({ kind: 'failed', fault: 'sub-agents connect no servers' }),
    readable: () => [
      ...connectedServers(ownServers),
      ...connectedServers(session.servers).filter((key) =>
        isInherited(session, { definition, ownServers }, key),
      ),
    ],
    featuresOf: (server) => (ownServers.all.has(server) ? ownFeatures : session.features),
    delegate: async () => failedOutcome('Sub-agents do not delegate'),
    beforeEnd: async (within) => {
      const fields = { ...who, stop_hook_active: continuations > 0, agent_transcript_path: '' };
      const { decision, reason, stop } = await session.hooks.run('SubagentStop', fields, within);
      const isSentOn = decision === 'deny' && stop === undefined && continuations++ < MOST_CONTINUATIONS;
      return isSentOn ? reason || 'Go on.' : undefined;
    },
  };
  const { end, denials } = await runTurn(
    worker,
    session,
    (event) => {
      if (event.kind === 'replied') said = lastText(event) || said;
      world.report(event, call.id);
    },
    { signal, interrupt: () => world.interrupt() },
  );
  world.denied(denials);
  if (end.reason === 'failed') return failedOutcome(`The sub-agent failed: ${end.fault}`);
  const note = end.reason === 'max-turns' ? `\n(It was stopped after ${end.turns} turns.)` : '';
  return { content: `${said || '(It said nothing.)'}${note}`, isError: end.reason === 'interrupted' };
}

/** What it can search for, after what it is told to be. */
function withDeferred(prompt: string, { searchable }: Division): string {
  return [prompt, sayDeferred(searchable)].filter((part) => part !== '').join('\n\n');
}

/** What is missing is told to the sub-agent, which can report it. */
function unconnected(servers: Servers): string[] {
  const missing = [...servers.all].flatMap(([name, { state }]) => {
    if (state.kind === 'connected') return [];
    return [`${name}: ${'fault' in state ? state.fault : 'it is not ready yet'}`];
  });
  return missing.length === 0
    ? []
    : [`<servers>\nThese could not be connected: ${missing.join('; ')}\n</servers>`];
}

function lastText({ message }: Extract<LoopEvent, { kind: 'replied' }>): string {
  return message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}
