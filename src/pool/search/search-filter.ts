import type { PooledTool } from '../pool.ts';
import { fold } from './entry.ts';

/** Which tools are searched at all. */
export type SearchFilter = {
  /** The key of a server; neither case nor dashes matter. */
  server?: string;
  /** Whether the tool says that it only reads. */
  readOnly?: boolean;
  /** Whether the tool may destroy something: it does not say otherwise. */
  destructive?: boolean;
  /** Words that must be in the tool's name or description. */
  required?: readonly string[];
};

/** Whether a tool may be among what is found. */
export function filterOf({
  server,
  readOnly,
  destructive,
  required = [],
}: SearchFilter): (tool: PooledTool) => boolean {
  const key = server === undefined ? undefined : fold(server);
  const words = required.map((word) => word.toLowerCase());
  return ({ origin, listed, name, description }) => {
    if (key !== undefined && (origin.kind !== 'mcp' || fold(origin.server) !== key)) return false;
    const { readOnlyHint, destructiveHint } = listed.annotations ?? {};
    const reads = readOnlyHint === true;
    if (readOnly !== undefined && reads !== readOnly) return false;
    // Who says nothing may destroy: that is the protocol's default.
    if (destructive !== undefined && (!reads && destructiveHint !== false) !== destructive) return false;
    if (words.length === 0) return true;
    const text = `${name} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
}
