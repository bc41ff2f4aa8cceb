import { createHash } from 'node:crypto';
import type { ListedTool } from '../../protocol/mcp.ts';
import { canonical } from './canonical.ts';
import { type Definition, definitionOf } from './definition.ts';

/** SHA-256 over what is relied on of a tool; in which order members were sent makes no difference. */
export function fingerprint(tool: ListedTool | Definition): string {
  return fingerprintOf(canonical(definitionOf(tool)));
}

/** The same, of a definition's canonical text. */
export function fingerprintOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
