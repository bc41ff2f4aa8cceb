import { isRecord } from '../../base/is-record.ts';
import type { ListedTool } from '../../protocol/mcp.ts';

/** Reads one entry of `tools/list`: the tool, or what is wrong with it. `place` stands for a name it does not have. */
export function readTool(
  item: unknown,
  place: string,
): { tool: ListedTool } | { name: string; fault: string } {
  if (!isRecord(item)) return { name: place, fault: 'it is no object' };
  const { name, inputSchema } = item;
  if (typeof name !== 'string' || name === '') {
    return { name: place, fault: '"name" must be a non-empty string' };
  }
  if (!isRecord(inputSchema)) return { name, fault: '"inputSchema" must be an object' };
  if (inputSchema.type !== 'object') return { name, fault: '"inputSchema" must have the type "object"' };
  const odd = OPTIONAL.find(([key, isFine]) => item[key] !== undefined && !isFine(item[key]));
  if (odd) return { name, fault: `"${odd[0]}" must be ${odd[2]}` };
  return { tool: item as ListedTool };
}

const isString = (value: unknown): boolean => typeof value === 'string';

/** Members that may be absent, how to tell a good one, and what it is called. */
const OPTIONAL: readonly (readonly [string, (value: unknown) => boolean, string])[] = [
  ['description', isString, 'a string'],
  ['title', isString, 'a string'],
  ['annotations', isRecord, 'an object'],
  ['outputSchema', isRecord, 'an object'],
  ['_meta', isRecord, 'an object'],
];
