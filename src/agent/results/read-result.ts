import { isRecord } from '../../base/json-value.ts';

/** A result as far as it says anything to a model. */
export type SaidResult = {
  readonly blocks: readonly unknown[];
  readonly structure?: { readonly value: unknown };
  readonly isError: boolean;
};

/** Members that are no news for a model. */
const ASIDE: ReadonlySet<string> = new Set([
  'content',
  'structuredContent',
  'isError',
  '_meta',
  'resultType',
]);

/** Reads whatever a server sent as a result: also one of no known form says something, and is not lost. */
export function readResult(result: unknown): SaidResult {
  if (result === undefined || result === null) return { blocks: [], isError: false };
  if (!isRecord(result)) return { blocks: [result], isError: false };
  const { content, structuredContent } = result;
  const isError = result.isError === true;
  const structure = structuredContent == null ? {} : { structure: { value: structuredContent } };
  if (Array.isArray(content)) return { blocks: content, ...structure, isError };
  if (content != null) return { blocks: [content], ...structure, isError };
  const rest = Object.entries(result).filter(([name]) => !ASIDE.has(name));
  const isOdd = structuredContent == null && rest.length > 0;
  return { blocks: isOdd ? [Object.fromEntries(rest)] : [], ...structure, isError };
}
