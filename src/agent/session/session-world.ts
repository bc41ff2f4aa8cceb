import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { Journal } from '../../mcp/calls/journal.ts';
import type { Features } from '../../mcp/features/features.ts';
import type { Servers } from '../../mcp/servers/servers.ts';
import type { Asker } from '../../permissions/ask.ts';
import type { Workspace } from '../../permissions/path.ts';
import type { RuleStore } from '../../permissions/rule-store.ts';
import type { PinWatch } from '../../pool/pinning/pin-watch.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import type { BuiltIn } from '../builtins/built-in.ts';
import type { FileMemory } from '../builtins/files/file-memory.ts';
import type { LeftOvers } from '../builtins/shell/left-overs.ts';
import type { WakeQueue } from '../builtins/wake-queue.ts';
import type { Model } from '../models/model.ts';
import type { ResultKeeping } from '../results/result-source.ts';
import type { AgentDefinition } from './agent-definition.ts';
import type { ConfiguredNames } from './server-status.ts';

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
