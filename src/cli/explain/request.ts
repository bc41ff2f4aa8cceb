import type { Wanted } from '../../config/sources/source-types.ts';
import type { PermissionMode } from '../../protocol/permission.ts';

/** What is to be explained, and as part of which run. */
export type ExplainRequest = {
  readonly about: 'server' | 'tool' | 'permission' | 'timeout';
  /** Without it all servers. */
  readonly name?: string;
  /** The server's own name of a tool, where `name` is a server. */
  readonly more?: string;
  readonly wanted: Wanted;
  readonly connects: boolean;
  readonly format: 'text' | 'json';
  /** The arguments of a call that is to be decided. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** The arguments were written as in a rule, so the explanation says how they were read. */
  readonly isWritten?: boolean;
  readonly mode?: PermissionMode;
};
