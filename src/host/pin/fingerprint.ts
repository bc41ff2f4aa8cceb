import { createHash } from 'node:crypto';
import type { ListedTool } from '../../protocol/mcp.ts';
import { canonical } from './canonical.ts';
import { type Definition, definitionOf } from './definition.ts';

/** SHA-256 over what is relied on of a tool; in which order members were sent makes no difference. */
export function fingerprint(tool: ListedTool | Definition): string {
  return createHash('sha256')
    .update(canonical(definitionOf(tool)))
    .digest('hex');
}
