import { isRecord } from '../../base/json-value.ts';
import type { CallToolResult } from '../../protocol/mcp.ts';

/** The parts of a result that are sent to models. */
type ParsedResult = {
  readonly blocks: readonly unknown[];
  readonly structure?: { readonly value: unknown };
  readonly isError: boolean;
};

/** Members of a result that are handled separately or not sent to models. */
const ENVELOPE: ReadonlySet<string> = new Set([
  'content',
  'structuredContent',
  'isError',
  '_meta',
  'resultType',
]);

/** Parses any result; content of an unknown form is kept as a block. */
export function parseResult(result: unknown): ParsedResult {
  if (result === undefined || result === null) return { blocks: [], isError: false };
  if (!isRecord(result)) return { blocks: [result], isError: false };
  const { content, structuredContent } = result;
  const isError = result.isError === true;
  const structure = structuredContent == null ? {} : { structure: { value: structuredContent } };
  if (Array.isArray(content)) return { blocks: content, ...structure, isError };
  if (content != null) return { blocks: [content], ...structure, isError };
  const rest = Object.entries(result).filter(([name]) => !ENVELOPE.has(name));
  const isOdd = structuredContent == null && rest.length > 0;
  return { blocks: isOdd ? [Object.fromEntries(rest)] : [], ...structure, isError };
}

/** Data as JSON, or a note if it is nested too deeply. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'undefined';
  } catch {
    return '(data that is nested too deeply to be shown)';
  }
}

/** A result as programs receive it: the model's content, and the members that only programs use. */
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
  const isEmpty = parseResult(result).blocks.length === 0 && structuredContent === undefined;
  const shown = isEmpty ? [] : content;
  const more = {
    ...(structuredContent !== undefined && { structuredContent }),
    ...(_meta !== undefined && { _meta }),
    ...(resourceLinks.length > 0 && { resourceLinks }),
  };
  return Object.keys(more).length > 0 ? { content: shown, ...more } : shown;
}
