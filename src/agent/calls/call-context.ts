import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { Journal } from '../../mcp/calls/journal.ts';
import type { Features } from '../../mcp/features/features.ts';
import type { CallTarget } from '../../mcp/servers/call-target.ts';
import type { Server } from '../../mcp/servers/server-status.ts';
import type { Servers } from '../../mcp/servers/servers.ts';
import type { Asker } from '../../permissions/ask.ts';
import type { Workspace } from '../../permissions/path.ts';
import type { RuleStore } from '../../permissions/rule-store.ts';
import type { PinWatch } from '../../pool/pinning/pin-watch.ts';
import type { Pool } from '../../pool/pool.ts';
import type { ToolIndex } from '../../pool/search/tool-index.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import type { BuiltIn, BuiltInWorld } from '../builtins/built-in.ts';
import type { FileMemory } from '../builtins/files/file-memory.ts';
import type { LeftOvers } from '../builtins/shell/left-overs.ts';
import type { WakeQueue } from '../builtins/wake-queue.ts';
import type { LoopConfig, LoopEnd } from '../loop/loop.ts';
import type { Model, ModelMessage } from '../models/model.ts';
import type { ResultKeeping } from '../results/result-store.ts';
import type { AgentDefinition } from '../session/agent-definition.ts';
import type { ConfiguredNames } from '../session/server-status.ts';
import type { PoolCall, Who } from './pool-call.ts';
import type { ToolShelf } from './tool-disclosure.ts';

/** One agent at work: the lead, or a sub-agent. */
export type Worker = {
  readonly messages: ModelMessage[];
  modelName(): string;
  system(): string;
  pool(): Pool;
  /** What it has been told of the pool. */
  readonly shelf: ToolShelf;
  /** Where it searches for the rest. */
  readonly index: ToolIndex;
  /** Settles when what servers offer is known again after they said it changed. */
  listed(): Promise<void>;
  /** The servers its tools are called at, by key. */
  servers(): ReadonlyMap<string, Server>;
  /** One of them, for a call. */
  target(server: string): CallTarget | undefined;
  readonly maxTurns?: number;
  /** The call that started it, for a sub-agent. */
  readonly parentToolUseId: string | null;
  /** Members that hooks are told about who works. */
  readonly who: Who;
  readonly makeRoom?: LoopConfig['makeRoom'];
  /** A text the worker must hear before it may end. */
  beforeEnd?(signal: AbortSignal): Promise<string | undefined>;
  readonly connectServer: BuiltInWorld['connect'];
  /** The connected servers whose resources it may read. */
  readable(): string[];
  featuresOf(server: string): Features;
  delegate(
    call: PoolCall,
    ...args: Parameters<BuiltInWorld['delegate']>
  ): ReturnType<BuiltInWorld['delegate']>;
};

export type TurnEnd = {
  readonly end:
    | LoopEnd
    | { readonly reason: 'failed'; readonly fault: string; readonly turns: number; readonly usage: Usage };
  readonly denials: readonly Denial[];
};

/** A call that was not let through. */
export type Denial = {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly tool_input: unknown;
};

/** What the lead and every sub-agent of a session share. */
export type SessionWorld = {
  readonly model: Model;
  readonly servers: Servers;
  /** Where they were configured. */
  readonly configured?: Pick<ConfiguredNames, 'scopeOf'>;
  /** Their resources, prompts and completion. */
  readonly features: Features;
  /** Calls of servers' tools, written down before they are sent. */
  readonly journal: Journal;
  /** How long they may take, where nobody else says. */
  readonly callLimits: { readonly callTimeoutMs?: number; readonly idleTimeoutMs?: number };
  readonly hooks: SessionHooks;
  readonly rules: RuleStore;
  readonly mayBypass: boolean;
  /** What tools were when they were accepted. */
  readonly pins: PinWatch;
  readonly askers: readonly Asker[];
  readonly builtIns: readonly BuiltIn[];
  readonly agents: Readonly<Record<string, AgentDefinition>>;
  /** Whether the program is told why each call was allowed or denied. */
  readonly tellsDecisions: boolean;
  /** Whether descriptions carry what servers claim of their tools. */
  readonly hasMarks: boolean;
  /** What definitions of servers' tools may take before a model has to search for them. */
  readonly toolBudget: number;
  /** Sub-agents get no tools of servers. */
  readonly isLeadOnly: boolean;
  workspace(): Workspace;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files: FileMemory;
  readonly wake: WakeQueue;
  readonly leftOvers: LeftOvers;
  /** What becomes of results that a model cannot take whole. */
  readonly results: ResultKeeping;
  /** What the person should know and no message carries. */
  note(text: string): void;
  /** A message for the program; the session's own members are added. */
  say(message: Frame): void;
  /** Settles when the program has room for more messages; undefined if it has now. */
  readerReady(): Promise<void> | undefined;
  /** While it lasts, the session waits for somebody. */
  waiting<T>(work: Promise<T>): Promise<T>;
};
