import { isRecord } from '../../base/is-record.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import { blockPieces } from '../results/block.ts';
import { jsonText } from '../results/json-text.ts';
import type { ResultSource } from '../results/result-source.ts';
import { contentOf } from '../results/to-model.ts';

/**
 * What a hook put in the place of a result: a text, blocks in MCP's or the model's form, a whole MCP result, or any
 * data. How long it is, is the hook's affair; that a failed result holds text only is not.
 */
export async function hookedContent(
  value: unknown,
  { isError }: { readonly isError: boolean },
  source: ResultSource,
): Promise<string | UserBlock[]> {
  if (typeof value === 'string') return value;
  const given: unknown = isRecord(value) && 'content' in value ? value.content : value;
  if (typeof given === 'string') return given;
  if (!Array.isArray(given) || given.length === 0 || !given.every(isBlock)) return jsonText(value);
  const boundless: ResultSource = {
    ...source,
    limit: { most: Number.POSITIVE_INFINITY, unit: 'characters' },
  };
  const blocks: UserBlock[] = [];
  for (const block of given) {
    if (block.type === 'image' && isRecord(block.source)) {
      blocks.push(isError ? { type: 'text', text: '[Image]' } : { type: 'image', source: block.source });
    } else {
      const pieces = await blockPieces(block, boundless);
      const { content } = await contentOf(pieces, boundless, { isError });
      blocks.push(...(typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content));
    }
  }
  return blocks;
}

function isBlock(it: unknown): it is Record<string, unknown> & { type: string } {
  return isRecord(it) && typeof it.type === 'string';
}
