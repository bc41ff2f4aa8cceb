import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { Journal } from '../../mcp/calls/journal.ts';
import type { Features } from '../../mcp/features/features.ts';
import type { CallTarget } from '../../mcp/servers/call-target.ts';
import type { Server } from '../../mcp/servers/server-status.ts';
import type { Servers } from '../../mcp/servers/servers.ts';
import type { Asker } from '../../permissions/ask.ts';
import type { Workspace } from '../../permissions/path.ts';
import type { RuleStore } from '../../permissions/rule-store.ts';
import type { Disclosure } from '../../pool/disclosure.ts';
import type { PinWatch } from '../../pool/pinning/pin-watch.ts';
import type { Pool } from '../../pool/pool.ts';
import type { ToolIndex } from '../../pool/search/tool-index.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import type { EffortLevel } from '../../protocol/system-message.ts';
import type { AgentDefinition } from '../builtins/agents/agent-definition.ts';
import type { BuiltIn, BuiltInContext } from '../builtins/built-in.ts';
import type { FileCheckpoints } from '../builtins/files/file-checkpoints.ts';
import type { FileMemory } from '../builtins/files/file-memory.ts';
import type { Services } from '../builtins/services.ts';
import type { BackgroundProcesses } from '../builtins/shell/background-processes.ts';
import type { StructuredOutput } from '../builtins/structured-output.ts';
import type { WakeQueue } from '../builtins/wake-queue.ts';
import type { LoopConfig } from '../loop/loop.ts';
import type { ToolOutcome, ToolUse } from '../loop/run-calls.ts';
import type { Model, ModelMessage } from '../models/model.ts';
import type { ResultKeeping } from '../results/result-files.ts';
import type { BackgroundTasks } from '../tasks/background-tasks.ts';
import type { WorkingDirectory } from '../tasks/working-directory.ts';
import type { AgentIdentity } from './pool-call.ts';

/** What the calls of one agent's turn work with. */
export type CallContext = {
  readonly session: SessionContext;
  readonly agent: Agent;
  /** The pool that the model was offered in this round. */
  readonly pool: Pool;
  /** Why a hook stopped the agent; the first reason wins. */
  readonly stopReason: string | undefined;
  stop(reason: string): void;
  /** Adds text of a hook for the model, after the results of this round. */
  addNote(text: string): void;
  readonly denials: Denial[];
  /** Ends the turn, because the answer to a permission prompt demands it. */
  interrupt(): void;
};

/** A call that was denied, as the result message lists it. */
export type Denial = {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly tool_input: unknown;
};

/** One agent at work: the lead or a sub-agent. */
export type Agent = {
  readonly messages: ModelMessage[];
  modelName(): string;
  /** The effort that the agent requests, if it differs from that of the session. */
  readonly effort?: EffortLevel | undefined;
  /** The model that a skill has chosen for the rest of the turn. */
  chosenModel?(): string | undefined;
  system(): string;
  pool(): Pool;
  /** Which tools of the pool have been sent to the agent's model. */
  readonly disclosure: {
    divide(pool: Pool): Disclosure;
    disclose(pool: Pool): Disclosure;
    load(names: Iterable<string>): void;
  };
  /** The search index for the deferred tools. */
  readonly index: ToolIndex;
  /** Settles once the servers that announced a change have listed their tools again. */
  listed(): Promise<void>;
  /** The servers whose tools the agent can call, by key. */
  servers(): ReadonlyMap<string, Server>;
  target(server: string): CallTarget | undefined;
  readonly maxTurns?: number;
  /** The call that started a sub-agent; null for the lead. */
  readonly parentToolUseId: string | null;
  readonly identity: AgentIdentity;
  readonly compactIfNeeded?: LoopConfig['compactIfNeeded'];
  /** A text that the agent must answer before it may end, if a Stop hook makes it continue. */
  beforeEnd?(signal: AbortSignal): Promise<string | undefined>;
  /** The structured output that ends the agent's turn, if the program requests one. */
  readonly output?: StructuredOutput;
  /** Texts of the agent itself that follow the results of a tool round. */
  afterRound?(
    round: { readonly calls: readonly ToolUse[]; readonly outcomes: readonly ToolOutcome[] },
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  /** Texts that follow the results of a tool round, such as messages of channels. */
  takeNotices?(): readonly string[];
  readonly connectServer: BuiltInContext['connect'];
  /** The keys of the connected servers whose resources the agent may read. */
  readableServers(): string[];
  featuresOf(server: string): Features;
};

/** The scopes of configured servers; undefined for a server that no file or flag configures. */
export type ServerScopes = { scopeOf(server: string): string | undefined };

/** What the lead and all sub-agents of a session share. */
export type SessionContext = {
  readonly model: Model;
  readonly servers: Servers;
  readonly configured?: ServerScopes;
  /** Resources, prompts and completion of the servers. */
  readonly features: Features;
  /** Records calls of servers' tools before they are sent. */
  readonly journal: Journal;
  /** After this time, a call of a server's tool continues in the background; undefined or 0: never. */
  readonly backgroundCallsAfterMs?: number | undefined;
  /** Default time limits of calls. */
  readonly callLimits: { readonly callTimeoutMs?: number; readonly idleTimeoutMs?: number };
  readonly hooks: SessionHooks;
  readonly rules: RuleStore;
  /** The rules without those of the lead's skills; sub-agents start with these rules. */
  readonly sharedRules: RuleStore;
  /** Whether mode `bypassPermissions` may be used. */
  readonly mayBypass: boolean;
  /** The accepted definitions of tools. */
  readonly pins: PinWatch;
  readonly askers: readonly Asker[];
  /** Waits for channels that are connecting, if no person can answer meanwhile. */
  askersReady?(signal: AbortSignal): Promise<void>;
  readonly builtIns: readonly BuiltIn[];
  /** The kinds of sub-agents, by name. */
  readonly agents: Readonly<Record<string, AgentDefinition>>;
  /** The effort that is sent to a model, given what an agent requests. */
  effortOf(model: string, requested?: EffortLevel): EffortLevel | undefined;
  /** Whether the program gets a message about each permission decision. */
  readonly reportsDecisions: boolean;
  /** Whether tool descriptions include the annotations of servers. */
  readonly hasMarks: boolean;
  /** How many tokens the definitions of servers' tools may take before tools are deferred. */
  readonly toolBudget: number;
  /** Sub-agents get no tools of servers. */
  readonly isLeadOnly: boolean;
  /** Why the budget ends a turn; undefined while it is not spent. */
  readonly budgetError?: () => string | undefined;
  workspace(): Workspace;
  /** The environment of shell commands. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files: FileMemory;
  /** Undefined unless the program may rewind files. */
  readonly checkpoints?: FileCheckpoints | undefined;
  readonly wake: WakeQueue;
  readonly tasks: BackgroundTasks;
  readonly directory: WorkingDirectory;
  /** The services that built-in tools use. */
  readonly services: Services;
  /** The resources whose changes the agent is told about. */
  readonly watch: {
    add(server: string, uri: string, features: Features, signal: AbortSignal): Promise<string | undefined>;
    remove(server: string, uri: string): Promise<void>;
  };
  readonly background: BackgroundProcesses;
  /** How results that are too long or binary are stored. */
  readonly results: ResultKeeping;
  /** Reports something the user should know that no message carries. */
  note(text: string): void;
  /** Sends a message to the program; the session's id is added. */
  emit(message: Frame): void;
  /** Settles when the program can take more messages; undefined if it can now. */
  readerReady(): Promise<void> | undefined;
  /** Marks the session as waiting for an answer while the work lasts. */
  whileWaiting<T>(work: Promise<T>): Promise<T>;
  /** Whether the session is marked as waiting for an answer. */
  isWaiting(): boolean;
};
