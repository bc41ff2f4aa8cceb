import type { ToolRef } from '../../permissions/match.ts';
import type { PathLink } from '../../permissions/path.ts';
import type { Rule } from '../../permissions/rule.ts';
import type { ToolAnnotations } from '../../protocol/mcp.ts';
import type { PermissionMode } from '../../protocol/permission.ts';

/** What is known of the call beside the rules. */
export type CallFacts = {
  readonly ref?: ToolRef;
  /** With its paths as the file system sees them: that is what is decided on. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Why its path leads nowhere: then nobody is asked. */
  readonly fault?: string;
  /** The real path, where another was written. */
  readonly path?: string;
  /** Where the paths that rules name lead. */
  readonly links?: readonly PathLink[];
  /** What its server claims; nothing unless it was asked. */
  readonly annotations?: ToolAnnotations;
  /** Its server was asked for its claims, and told those or none. */
  readonly isAsked?: boolean;
  /** Of a built-in tool, which is ours; a server's is trusted if its entry says so. */
  readonly isBuiltIn?: boolean;
  /** The names of all that are built in, one of which may be meant. */
  readonly builtIns?: readonly string[];
  /** How it differs from what was accepted. */
  readonly changed?: string;
  /** It was not there when its server was accepted: a rule that names it accepts it. */
  readonly isNew?: boolean;
  /** Rules that entries and flags make beside settings. */
  readonly rules?: readonly Rule[];
  /** `--permission-mode`. */
  readonly mode?: PermissionMode;
};
