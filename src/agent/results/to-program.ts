import { isRecord } from '../../base/json-value.ts';
import type { CallToolResult } from '../../protocol/mcp.ts';
import { readResult } from './read-result.ts';

/** What a program is told of a result: what the model was told, and beside it what only programs can use. */
export function toProgram(
  result: Partial<CallToolResult> | null | undefined,
  { content, isError }: { readonly content: unknown; readonly isError: boolean },
): unknown {
  if (isError) return undefined;
  if (!isRecord(result)) return content;
  const { structuredContent, _meta } = result;
  const given: unknown[] = Array.isArray(result.content) ? result.content : [];
  const resourceLinks = given.flatMap((block) => {
    if (!isRecord(block) || block.type !== 'resource_link') return [];
    const { type: _, ...link } = block;
    return [link];
  });
  const told = readResult(result).blocks.length === 0 && structuredContent === undefined ? [] : content;
  const more = {
    ...(structuredContent !== undefined && { structuredContent }),
    ...(_meta !== undefined && { _meta }),
    ...(resourceLinks.length > 0 && { resourceLinks }),
  };
  return Object.keys(more).length > 0 ? { content: told, ...more } : told;
}
