import type { HookEffect } from '../../hooks/hook-effect.ts';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { ConnectWorld } from '../../mcp/connection/world.ts';
import type { Servers } from '../../mcp/servers/servers.ts';
import type { Pool } from '../../pool/assemble.ts';
import type { ToolIndex } from '../../pool/search/tool-index.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import type { LoopEvent } from '../loop/loop.ts';
import type { ToolShelf } from '../turn/tool-shelf.ts';
import type { AgentDefinition } from './agent-definition.ts';
import type { Conversation } from './conversation.ts';
import type { ProgramPorts } from './program-ports.ts';
import type { SessionOptions } from './session-options.ts';
import type { SessionWorld } from './session-world.ts';
import type { StateTeller } from './state-teller.ts';

/** One session, as its turns and the program's requests work on it. */
export type Session = {
  readonly options: SessionOptions;
  readonly servers: Servers;
  readonly ports: ProgramPorts;
  readonly connectWorld: ConnectWorld;
  readonly hooks: SessionHooks;
  readonly conversation: Conversation;
  readonly world: SessionWorld;
  readonly state: StateTeller;
  readonly agents: Record<string, AgentDefinition>;
  /** What every model has used so far. */
  readonly modelUsage: Readonly<Record<string, Usage>>;
  /** All tools there are now, as the lead is offered them. */
  pool(): Pool;
  /** What the lead has been told of them. */
  readonly shelf: ToolShelf;
  /** Where it searches for the rest. */
  readonly index: ToolIndex;
  /** The names of the commands that the program knows of. */
  toldCommands: string;
  modelName: string;
  systemPrompt: string;
  appendSystemPrompt: string;
  /** A message for the program. */
  say(message: Frame): void;
  /** Adds what a reply used. */
  count(event: LoopEvent): void;
  /** The same for what was asked of a model outside the conversation. */
  spend(model: string, usage: Usage): void;
  /** What hooks have to say about the beginning; nothing the second time. */
  start(signal: AbortSignal): Promise<HookEffect>;
  /** Work that may outlast its turn; the session ends after it. */
  during<T>(work: Promise<T>): Promise<T>;
  /** Ends the running turn; those that wait run after it. Gives the ids of those. */
  interrupt(): string[];
  /** Ends as if the program had gone. */
  end(): void;
};
