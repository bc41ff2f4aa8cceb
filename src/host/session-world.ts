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
import type { Journal } from './servers/call/journal.ts';
import type { Servers } from './servers/servers.ts';

/** What the lead and every sub-agent of a session share. */
export type SessionWorld = {
  readonly model: Model;
  readonly servers: Servers;
  /** Calls of servers' tools, written down before they are sent. */
  readonly journal: Journal;
  readonly hooks: SessionHooks;
  readonly rules: RuleStore;
  readonly mayBypass: boolean;
  readonly askers: readonly Asker[];
  readonly builtIns: readonly BuiltIn[];
  readonly agents: Readonly<Record<string, AgentDefinition>>;
  /** Whether the program is told why each call was allowed or denied. */
  readonly tellsDecisions: boolean;
  /** Whether descriptions carry what servers claim of their tools. */
  readonly hasMarks: boolean;
  /** Sub-agents get no tools of servers. */
  readonly isLeadOnly: boolean;
  workspace(): Workspace;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files: FileMemory;
  readonly wake: WakeQueue;
  readonly leftOvers: LeftOvers;
  readonly save: (data: string, mimeType: string) => Promise<string>;
  /** A message for the program; the session's own members are added. */
  say(message: Frame): void;
  /** While it lasts, the session waits for somebody. */
  waiting<T>(work: Promise<T>): Promise<T>;
};
