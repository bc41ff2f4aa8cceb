import type { Inbox } from '../../channels/inbox.ts';
import type { ChannelSetting } from '../../config/settings/channel-settings.ts';
import type { HookEffect } from '../../hooks/hook-effect.ts';
import type { RegisteredHook } from '../../hooks/match-hooks.ts';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { ConnectContext, ServerEntry } from '../../mcp/connection/connect-context.ts';
import type { Servers } from '../../mcp/servers/servers.ts';
import type { Asker } from '../../permissions/ask.ts';
import type { Workspace } from '../../permissions/path.ts';
import type { Rule } from '../../permissions/rule.ts';
import type { RuleStore } from '../../permissions/rule-store.ts';
import type { ToolSearchSetting } from '../../pool/disclosure.ts';
import type { Pins } from '../../pool/pinning/pins.ts';
import type { Pool } from '../../pool/pool.ts';
import type { ToolIndex } from '../../pool/search/tool-index.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import type { FlagNames } from '../../protocol/launch-flag.ts';
import type { LogLevel } from '../../protocol/mcp.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { AccountInfo, EffortLevel, ModelInfo } from '../../protocol/system-message.ts';
import type { SubAgents } from '../agents/sub-agents.ts';
import type { AgentDefinition } from '../builtins/agents/agent-definition.ts';
import type { PlanMode } from '../builtins/session/plan-mode.ts';
import type { StructuredOutput } from '../builtins/structured-output.ts';
import type { Denial, SessionContext } from '../calls/call-context.ts';
import type { ToolDisclosure } from '../calls/tool-disclosure.ts';
import type { Memory } from '../memory/memory.ts';
import type { MemoryOptions } from '../memory/memory-files.ts';
import type { Model, ModelMessage } from '../models/model.ts';
import type { UsageTotals } from '../models/usage-totals.ts';
import type { DefinitionSource, Skills } from '../skills/skills.ts';
import type { BackgroundTasks } from '../tasks/background-tasks.ts';
import type { NoticeQueue } from '../tasks/notices.ts';
import type { Transcript } from '../transcript/transcript.ts';
import type { ReplyUsage } from '../transcript/transcript-entry.ts';
import type { Environment, EnvironmentOptions } from '../turn/environment.ts';
import type { Conversation } from './conversation.ts';
import type { Reminders } from './reminders.ts';
import type { ConfiguredNames } from './server-status.ts';
import type { SessionStateTracker } from './turn-queue.ts';

/** One session, as its turns and the control requests of the program use it. */
export type Session = {
  /** The id of the session, which `/clear` changes. */
  readonly id: string;
  readonly options: SessionOptions;
  readonly servers: Servers;
  /** Passes on messages from servers in the program. */
  readonly ports: { deliver(server: string, message: unknown): void };
  readonly connectDeps: ConnectContext;
  readonly hooks: SessionHooks;
  readonly conversation: Conversation;
  readonly context: SessionContext;
  readonly state: SessionStateTracker;
  readonly agents: Record<string, AgentDefinition>;
  /** The definition that the lead works by, if the program selected one of the agents. */
  readonly lead: AgentDefinition | undefined;
  /** The structured output that the program requested for the end of each turn, if any. */
  output: StructuredOutput | undefined;
  /** The usage and cost of each model so far. */
  readonly usageTotals: UsageTotals;
  /** The current pool of the lead. */
  pool(): Pool;
  /** Which tools of the pool the lead's model has been sent. */
  readonly disclosure: ToolDisclosure;
  /** The search index for deferred tools. */
  readonly index: ToolIndex;
  /** The names of the commands that were last announced to the program. */
  announcedCommands: string;
  /** Whether the program has sent `initialize`. */
  isInitialized: boolean;
  modelName: string;
  /** The model of the lead in plan mode, if it is another one. */
  planModelName: string | undefined;
  systemPrompt: string;
  appendSystemPrompt: string;
  /** The background work. */
  readonly tasks: BackgroundTasks;
  readonly subAgents: SubAgents;
  readonly skills: Skills;
  readonly planMode: PlanMode;
  /** The file with the scheduled prompts of the session; undefined for a session that is not stored. */
  readonly scheduleFile: string | undefined;
  /** Whether the program gets the texts of sub-agents. */
  forwardsSubAgentText: boolean;
  /** The calls of sub-agents that were denied since the last result message. */
  takeDenials(): readonly Denial[];
  /** What enters the conversation besides the user's messages. */
  readonly notices: NoticeQueue;
  /** The memory files, if the session has any. */
  readonly memory: Memory | undefined;
  readonly environment: Environment | undefined;
  /** The texts of the agent itself in the conversation. */
  readonly reminders: Reminders;
  /** Sends a message to the program. */
  emit(message: Frame): void;
  /** Counts the usage of a reply that the transcript has no entry for, and stores it there. */
  addUsage(model: string, usage: Usage): void;
  /** Counts the usage of a reply of the lead, which is stored with its entry in the transcript. */
  countReply(model: string, usage: Usage): void;
  /** Uses the model of the lead's definition, unless another one was requested. */
  applyLeadModel(): void;
  /** Runs the SessionStart hooks, once per session id. */
  start(signal: AbortSignal): Promise<HookEffect>;
  /** Ends the conversation and continues as a new session, with a new id and an empty conversation. */
  clear(promptUuid: string): Promise<void>;
  /** Registers work that may outlast its turn; the session waits for it before it closes. */
  trackBackground<T>(work: Promise<T>): Promise<T>;
  /** Interrupts the running turn; queued turns run after it. Returns the ids of the queued messages. */
  interrupt(): string[];
  /** Ends the session as if the program had exited. */
  end(): void;
  /** Aborted when the session closes its servers. */
  readonly closing: AbortSignal;
};

/** The options of one session. */
export type SessionOptions = {
  /** How messages name a flag; as on the command line by default. */
  readonly nameOf?: FlagNames;
  readonly model: Model;
  readonly modelName: string;
  readonly version: string;
  readonly workspace: Workspace;
  readonly rules: readonly Rule[];
  readonly permissionMode?: PermissionMode;
  /** Stores rules, modes and directories; by default a store in memory that starts with those of these options. */
  readonly ruleStore?: RuleStore;
  /** Whether mode `bypassPermissions` may be used. */
  readonly mayBypass?: boolean;
  readonly maxTurns?: number;
  /** The maximum cost of the session in US dollars. */
  readonly maxBudgetUsd?: number;
  /** The name of a model at its provider; by default the name itself. */
  readonly resolveModelName?: (given: string) => string;
  /** The model that `setModel()` without a name selects; by default `modelName`. */
  readonly defaultModelName?: string;
  /** The model in plan mode, if it is another one than `modelName`. */
  readonly planModelName?: string | undefined;
  /** The model in plan mode for a model name that the program requests. */
  readonly planNameOf?: (given: string) => string | undefined;
  /** The effort that is sent to a model, given what an agent requests; by default the requested effort. */
  readonly effortOf?: (model: string, requested?: EffortLevel) => EffortLevel | undefined;
  /** The models that a program can select, and the account; by default the model of the session, and no account. */
  readonly models?: readonly ModelInfo[];
  readonly account?: AccountInfo;
  /** The API that serves a model, for `modelUsage`. */
  readonly providerOf?: (model: string) => string | undefined;
  /** The structured output that ends each turn; by default turns end with text. */
  readonly output?: StructuredOutput;
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  /** Servers that the session connects to itself. */
  readonly servers?: Readonly<Record<string, ServerEntry>>;
  /** Where the servers were configured. */
  readonly configured?: ConfiguredNames;
  /** The servers that may push messages into the conversation; without it, none may. */
  readonly channels?: SessionChannels;
  /** The messages of channels that a resumed conversation contains, and those of them that no reply follows. */
  readonly channelMessages?: readonly string[];
  readonly unansweredMessages?: readonly string[];
  /** Log messages of servers of at least this level are sent to the program; without it, none are. */
  readonly serverLogLevel?: LogLevel;
  /** Default time limits of calls; a limit of the call or of the server's entry wins. */
  readonly callLimits?: { readonly callTimeoutMs?: number; readonly idleTimeoutMs?: number };
  readonly connect: Omit<ConnectContext, 'openPort' | 'clientFeatures'>;
  /** The environment of shell commands of tools and hooks; by default `connect.env`. */
  readonly shellEnv?: Readonly<Record<string, string | undefined>>;
  readonly includePartialMessages?: boolean;
  /** Whether user messages are sent back to the program when their turn begins. */
  readonly replayUserMessages?: boolean;
  /** The names of the built-in tools to offer; all by default. */
  readonly builtIns?: readonly string[];
  /** Command hooks, in addition to the callbacks of the program. */
  readonly hooks?: readonly RegisteredHook[];
  readonly agents?: Readonly<Record<string, AgentDefinition>>;
  /** Where the files of skills, commands, agents and output styles are; none are read by default. */
  readonly definitions?: DefinitionSource;
  /** The name of the agent whose prompt, tools and model the lead uses. */
  readonly agent?: string;
  /** Whether `modelName` was requested, so that it wins over the model of `agent`. */
  readonly isModelRequested?: boolean;
  /** Sub-agents get no tools of servers. */
  readonly leadOnly?: boolean;
  /** How many sub-agents may run at once; 20 by default. */
  readonly maxSubAgents?: number;
  /** Whether named agents in the background form a team that shares the task list. */
  readonly teams?: boolean;
  /** Where state that outlives the session is stored; by default in a temporary directory. */
  readonly stateDirectory?: string;
  /** The tools for lists of work: tasks (the default) or todos; and the id of a task list that sessions share. */
  readonly lists?: { readonly kind?: 'tasks' | 'todos'; readonly sharedId?: string };
  /** The prompts that tools schedule. `home` has the records of durable jobs; without it there are none. */
  readonly schedule?: { readonly isDisabled?: boolean; readonly home?: string };
  /** After this time, a call of a server's tool continues in the background, unless `backgroundTasks` is false; never by default. */
  readonly backgroundCallsAfterMs?: number;
  /** Whether commands and sub-agents may run in the background; true by default. */
  readonly backgroundTasks?: boolean;
  /** Whether the program answers permission prompts; true by default. */
  readonly asksProgram?: boolean;
  /** Whether calls that require approval are denied without a permission request, also through channels. */
  readonly deniesPrompts?: boolean;
  /** Whether permission requests wait for channels that are connecting; they do if the program answers none. */
  readonly awaitsChannels?: boolean;
  /** Other ways to ask a person. */
  readonly askers?: readonly Asker[];
  /** Where busy and idle messages are sent: to the SDK of the program, or to the program too; none by default. */
  readonly reportsState?: 'to-sdk' | 'to-program';
  /** Whether the program gets a message about each permission decision. */
  readonly reportsDecisions?: boolean;
  readonly sessionId?: string;
  /** The file that the conversation is appended to; none by default. */
  readonly transcript?: Transcript;
  /** Whether the program may rewind files to the state at one of its messages. */
  readonly fileCheckpoints?: boolean;
  /** The title of a resumed session. */
  readonly title?: string;
  /** The earlier messages of a resumed conversation. */
  readonly messages?: readonly ModelMessage[];
  /** The replies of a resumed conversation; their usage and cost count toward the totals, but not toward the budget. */
  readonly earlierReplies?: readonly ReplyUsage[];
  /** The directory for binary and long results; by default beside the transcript, else a temporary one. */
  readonly resultsDirectory?: string;
  /** Transcripts that this conversation was resumed or forked from; their stored results may be read too. */
  readonly resumedFrom?: readonly string[];
  /** The maximum size of one result for the model, in tokens; 25,000 by default. A tool's definition may raise it. */
  readonly maxResultTokens?: number;
  /** Whether a text that is too long is stored in a file (the default) or truncated. */
  readonly resultFiles?: boolean;
  /** Ends the session. */
  readonly signal?: AbortSignal;
  /** Appends the annotations of tools to their descriptions: `(readOnly)`, `(destructive)`. */
  readonly marks?: boolean;
  /** When servers' tools are deferred; by default when their definitions take more than a tenth of the window. */
  readonly toolSearch?: ToolSearchSetting;
  /** The accepted definitions of tools; by default those that this session sees first. */
  readonly pins?: Pins;
  /** The memory files of the session; none by default. */
  readonly memory?: MemoryOptions;
  /** Facts about the machine for the model; none by default. */
  readonly environment?: EnvironmentOptions;
  /** Receives what the user should know and no message carries. */
  readonly note?: (text: string) => void;
};

export type SessionChannels = {
  readonly settings: Readonly<Record<string, ChannelSetting>>;
  /** The servers that a flag or the program named; the user is told if one does not exist. */
  readonly requested?: readonly string[];
  openInbox(): Promise<Inbox>;
};
