import type { HookEffect } from '../../hooks/hook-effect.ts';
import type { RegisteredHook } from '../../hooks/match-hooks.ts';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { ConnectWorld, ServerEntry } from '../../mcp/connection/connect-context.ts';
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
import type { PermissionMode } from '../../protocol/permission.ts';
import type { SessionContext } from '../calls/call-context.ts';
import type { ToolDisclosure } from '../calls/tool-disclosure.ts';
import type { LoopEvent } from '../loop/loop.ts';
import type { Model, ModelMessage } from '../models/model.ts';
import type { Transcript } from '../transcript/transcript.ts';
import type { AgentDefinition } from './agent-definition.ts';
import type { Conversation } from './conversation.ts';
import type { ProgramPorts } from './program-ports.ts';
import type { ConfiguredNames } from './server-status.ts';
import type { SessionStateTracker } from './turn-queue.ts';

/** One session, as its turns and the program's requests work on it. */
export type Session = {
  readonly options: SessionOptions;
  readonly servers: Servers;
  readonly ports: ProgramPorts;
  readonly connectWorld: ConnectWorld;
  readonly hooks: SessionHooks;
  readonly conversation: Conversation;
  readonly context: SessionContext;
  readonly state: SessionStateTracker;
  readonly agents: Record<string, AgentDefinition>;
  /** What every model has used so far. */
  readonly modelUsage: Readonly<Record<string, Usage>>;
  /** All tools there are now, as the lead is offered them. */
  pool(): Pool;
  /** What the lead has been told of them. */
  readonly disclosure: ToolDisclosure;
  /** Where it searches for the rest. */
  readonly index: ToolIndex;
  /** The names of the commands that the program knows of. */
  announcedCommands: string;
  modelName: string;
  systemPrompt: string;
  appendSystemPrompt: string;
  /** A message for the program. */
  emit(message: Frame): void;
  /** Adds what a reply used. */
  count(event: LoopEvent): void;
  /** The same for what was asked of a model outside the conversation. */
  spend(model: string, usage: Usage): void;
  /** What hooks have to say about the beginning; nothing the second time. */
  start(signal: AbortSignal): Promise<HookEffect>;
  /** Work that may outlast its turn; the session ends after it. */
  trackBackground<T>(work: Promise<T>): Promise<T>;
  /** Ends the running turn; those that wait run after it. Gives the ids of those. */
  interrupt(): string[];
  /** Ends as if the program had gone. */
  end(): void;
};

/** What one session is started with. */
export type SessionOptions = {
  readonly model: Model;
  readonly modelName: string;
  readonly version: string;
  readonly workspace: Workspace;
  readonly rules: readonly Rule[];
  readonly permissionMode?: PermissionMode;
  /** Holds rules, modes and directories, and begins with them all; by default one that forgets, with those named here. */
  readonly ruleStore?: RuleStore;
  /** Whether mode `bypassPermissions` may be used at all. */
  readonly mayBypass?: boolean;
  readonly maxTurns?: number;
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  /** Servers the session dials itself. */
  readonly servers?: Readonly<Record<string, ServerEntry>>;
  /** Where they were configured. */
  readonly configured?: ConfiguredNames;
  /** How long calls of servers' tools may take, where neither the call nor the entry says. */
  readonly callLimits?: { readonly callTimeoutMs?: number; readonly idleTimeoutMs?: number };
  readonly connect: Omit<ConnectWorld, 'openPort' | 'offerTo'>;
  /** What the commands of tools and hooks inherit; by default what connecting may use. */
  readonly shellEnv?: Readonly<Record<string, string | undefined>>;
  readonly includePartialMessages?: boolean;
  /** Which built-in tools there are; all by default. */
  readonly builtIns?: readonly string[];
  /** Shell hooks, beside the callbacks of the program. */
  readonly hooks?: readonly RegisteredHook[];
  readonly agents?: Readonly<Record<string, AgentDefinition>>;
  /** Sub-agents get no tools of servers. */
  readonly leadOnly?: boolean;
  /** Whether the program answers permission questions; true by default. */
  readonly asksProgram?: boolean;
  /** Other ways to reach a person. */
  readonly askers?: readonly Asker[];
  /** Whether the program wants to be told when the session is busy. */
  readonly reportsState?: boolean;
  /** Whether the program wants to be told why each call was allowed or denied. */
  readonly reportsDecisions?: boolean;
  readonly sessionId?: string;
  /** Where the conversation is kept; nowhere by default. */
  readonly transcript?: Transcript;
  /** What was said before this session was resumed. */
  readonly messages?: readonly ModelMessage[];
  /** Where results go that are binary or too long; by default beside the transcript, or where they go with the session. */
  readonly resultsDirectory?: string;
  /** Transcripts this session goes on from beside its own: what was put aside of their results may be read too. */
  readonly goesOnFrom?: readonly string[];
  /** How much of one result a model is given, in tokens; 25,000 by default. A tool's definition may ask for more. */
  readonly maxResultTokens?: number;
  /** Whether a text that is too long goes to a file, true by default; if not, it is cut. */
  readonly resultFiles?: boolean;
  /** Ends the session before the program does. */
  readonly signal?: AbortSignal;
  /** Appends the servers' claims to descriptions of tools: `(readOnly)`, `(destructive)`. */
  readonly marks?: boolean;
  /** When servers' tools have to be searched for; by default when their definitions take more than a tenth of the window. */
  readonly toolSearch?: ToolSearchSetting;
  /** Which definitions of tools were accepted; by default those this session saw first. */
  readonly pins?: Pins;
  /** Hears what the person should know and no message carries. */
  readonly note?: (text: string) => void;
};
