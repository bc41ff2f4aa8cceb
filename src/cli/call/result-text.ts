import type { CallToolResult } from '../../protocol/mcp.ts';
import { type Part, partsOf } from '../host/content-parts.ts';

/** What a tool gave, as a person sees it: the structured form is shown only where there is no text. */
export function resultParts({ content, structuredContent }: CallToolResult): Part[] {
  const parts = partsOf(Array.isArray(content) ? content : []);
  const hasText = parts.some((part) => part.kind === 'text' && part.text.trim() !== '');
  if (hasText || structuredContent === undefined) return parts;
  const shown: Part = { kind: 'text', text: JSON.stringify(structuredContent, undefined, 2) };
  return [...parts.filter((part) => part.kind !== 'text'), shown];
}
