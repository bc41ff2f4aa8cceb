import { isRecord } from '../../base/is-record.ts';
import type { CallToolResult } from '../../protocol/mcp.ts';
import { blockToModel, type ResultSource } from './block.ts';
import type { ModelContent, ModelText } from './model-content.ts';

/** Turns what a tool gave into what the model is told; `structuredContent` stands for the texts beside it. */
export async function toModel(result: Partial<CallToolResult>, source: ResultSource): Promise<ModelContent> {
  const { structuredContent, isError = false } = result;
  const given: unknown[] = Array.isArray(result.content) ? result.content : [];
  const isText = (block: unknown) => isRecord(block) && block.type === 'text';
  const hasStructure = structuredContent !== undefined && !isError;
  const kept = hasStructure ? given.filter((block) => !isText(block)) : given;
  const blocks = (await Promise.all(kept.map((block) => blockToModel(block, source)))).flat();
  if (isError) return failed(blocks.filter((block) => block.type === 'text'));
  if (hasStructure) {
    const text = JSON.stringify(structuredContent);
    return { content: blocks.length === 0 ? text : [...blocks, { type: 'text', text }], isError };
  }
  if (blocks.length === 0) return { content: `(${source.name} completed with no output)`, isError };
  return { content: blocks, isError };
}

/** Turns a call that brought no result at all, a JSON-RPC error for one, into what the model is told. */
export function failureToModel(failure: unknown): ModelContent {
  const message =
    isRecord(failure) && typeof failure.message === 'string' ? failure.message : String(failure);
  return failed([{ type: 'text', text: message }]);
}

/** A failed result may hold text only: the Messages API refuses images there. */
function failed(texts: readonly ModelText[]): ModelContent {
  return { content: texts.map(({ text }) => text).join('\n') || 'Unknown error', isError: true };
}
