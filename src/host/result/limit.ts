import type { ModelContent, ModelText } from './model-content.ts';

/** Longest result in characters that a model is given whole; a tool may ask for more by its definition. */
const MOST_CHARACTERS = 100_000;
const UTMOST_CHARACTERS = 500_000;
const PREVIEW = 2_000;

/** How long a result of this tool may be. */
export function resultLimit(meta: Readonly<Record<string, unknown>> | undefined): number {
  const own = Number(meta?.['anthropic/maxResultSizeChars']);
  return own > 0 ? Math.min(own, UTMOST_CHARACTERS) : MOST_CHARACTERS;
}

/** What is too long goes to a file: the model is told where, and how it begins. Pictures stay. */
export async function limitResult(
  result: ModelContent,
  most: number,
  save: (data: string, mimeType: string) => Promise<string>,
): Promise<ModelContent> {
  const { content, isError } = result;
  const texts =
    typeof content === 'string' ? [content] : content.flatMap((it) => (it.type === 'text' ? it.text : []));
  const whole = texts.join('\n');
  if (whole.length <= most) return result;
  const path = await save(Buffer.from(whole).toString('base64'), 'text/plain');
  const text =
    `The result has ${whole.length} characters, more than the ${most} that are given whole. ` +
    `All of it is in ${path}: read it in parts, or search it. It begins:\n${whole.slice(0, PREVIEW)}`;
  if (typeof content === 'string') return { content: text, isError };
  const told: ModelText = { type: 'text', text };
  return { content: [told, ...content.filter((it) => it.type !== 'text')], isError };
}
