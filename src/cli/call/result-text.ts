import { readResult } from '../../agent/results/read-result.ts';
import { type Part, partsOf } from '../host/content-parts.ts';
import { jsonText } from '../host/lines.ts';

/** What a tool gave, whatever it is, as a person sees it: the structured form is shown only where there is no text. */
export function resultParts(result: unknown): Part[] {
  const { blocks, structure } = readResult(result);
  const parts = partsOf(blocks);
  const hasText = parts.some((part) => part.kind === 'text' && part.text.trim() !== '');
  if (hasText || !structure) return parts;
  return [...parts.filter((part) => part.kind !== 'text'), { kind: 'json', text: jsonText(structure.value) }];
}
