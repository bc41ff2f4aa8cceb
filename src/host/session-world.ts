import type { Frame } from '../protocol/control-frame.ts';
import type { AgentDefinition } from './agent-definition.ts';
import type { BuiltIn } from './builtin/built-in.ts';
import type { FileMemory } from './builtin/file-memory.ts';
import type { LeftOvers } from './builtin/left-overs.ts';
import type { WakeQueue } from './builtin/wake-queue.ts';
import type { SessionHooks } from './hook/session-hooks.ts';
import type { Model } from './model/model.ts';
import type { Asker } from './permission/ask.ts';
import type { Workspace } from './permission/path.ts';
import type { RuleStore } from './permission/rule-store.ts';
import type { PinWatch } from './pin-watch.ts';
import type { ResultKeeping } from './result/result-source.ts';
import type { ConfiguredNames } from './server-status.ts';
import type { Journal } from './servers/call/journal.ts';
import type { Features } from './servers/features/features.ts';
import type { Servers } from './servers/servers.ts';

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
