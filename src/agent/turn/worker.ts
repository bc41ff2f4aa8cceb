import type { Features } from '../../mcp/features/features.ts';
import type { CallTarget } from '../../mcp/servers/call-target.ts';
import type { Server } from '../../mcp/servers/server.ts';
import type { Pool } from '../../pool/assemble.ts';
import type { ToolIndex } from '../../pool/search/tool-index.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import type { BuiltInWorld } from '../builtins/built-in.ts';
import type { PoolCall, Who } from '../calls/pool-call.ts';
import type { LoopConfig, LoopEnd } from '../loop/loop.ts';
import type { ModelMessage } from '../models/model.ts';
import type { ToolShelf } from './tool-shelf.ts';

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
