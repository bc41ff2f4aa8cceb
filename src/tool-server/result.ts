import { isRecord } from '../base/json-value.ts';
import type { CallToolResult, ContentBlock } from '../protocol/mcp.ts';
import { messageOf } from '../protocol/sdk-error.ts';

/**
 * Converts the return value of a handler to a result (C22): text for strings, numbers, booleans and big integers, JSON text for
 * objects, arrays, maps and sets, nothing for null and undefined, a failure for an `Error`; a whole result passes as it is.
 */
export function wrapResult(value: unknown, options: { structured: boolean }): CallToolResult {
  switch (typeof value) {
    case 'string':
      return textResult(value);
    case 'number':
    case 'boolean':
    case 'bigint':
      return textResult(String(value));
    case 'undefined':
      return { content: [] };
    case 'function':
    case 'symbol':
      return failedResult(
        `The tool returned a ${typeof value}, which cannot be serialized. Return text, a number, plain data or an MCP tool result.`,
      );
    case 'object':
      if (value === null) return { content: [] };
      if (value instanceof Error) return failedResult(messageOf(value));
      return isWholeResult(value) ? passResult(value) : dataResult(value, options);
  }
}

/** An error result, which the model can read and react to (C2). */
export function failedResult(message: string): CallToolResult {
  return { content: [{ type: 'text', text: message }], isError: true };
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

/** Wraps data; an `isError` member marks the result as failed. */
function dataResult(value: object, options: { structured: boolean }): CallToolResult {
  const result = jsonResult(value, options);
  const { isError, is_error } = value as WholeResult;
  return (isError ?? is_error) === true ? { ...result, isError: true } : result;
}

function jsonResult(value: object, options: { structured: boolean }): CallToolResult {
  try {
    const { text, data } = plainJson(value);
    const result = textResult(text);
    return options.structured ? { ...result, structuredContent: data as Record<string, unknown> } : result;
  } catch (cause) {
    return failedResult(`The tool returned data that cannot be serialized as JSON: ${messageOf(cause)}`);
  }
}

type WholeResult = {
  content?: { readonly type: string; readonly [member: string]: unknown }[] | undefined;
  isError?: unknown;
  is_error?: unknown;
  structuredContent?: unknown;
  _meta?: unknown;
};

const RESULT_KEYS = new Set(['content', 'structuredContent', 'isError', 'is_error']);

/** Whether an object is a complete tool result: known content blocks, or only members of a result. Any other object is data. */
function isWholeResult(value: object): value is WholeResult {
  const { content } = value as { content?: unknown };
  if (Array.isArray(content) && content.length > 0 && content.every(isKnownBlock)) return true;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return (
    members.some(([key]) => RESULT_KEYS.has(key)) &&
    members.every(([key, member]) =>
      key === 'content' ? isBlocks(member) : key === '_meta' || RESULT_KEYS.has(key),
    )
  );
}

function isKnownBlock(block: unknown): boolean {
  if (!isRecord(block) || typeof block.type !== 'string') return false;
  return block.type === 'resource' || REQUIRED_MEMBERS[block.type] !== undefined;
}

function isBlocks(content: unknown): boolean {
  return (
    Array.isArray(content) && content.every((block) => isRecord(block) && typeof block.type === 'string')
  );
}

/** Reads `isError` and `is_error`, of which `isError` wins, and writes only `isError` (C3). */
function passResult(value: WholeResult): CallToolResult {
  const fault = resultFault(value);
  if (fault) return failedResult(`The tool returned a malformed result: ${fault}`);
  if (value.content && !('isError' in value) && !('is_error' in value)) return value as CallToolResult;
  const { content, isError, is_error, ...rest } = value;
  const flag = isError ?? is_error;
  const result = { content: content ?? impliedContent(rest), ...rest } as CallToolResult;
  return typeof flag === 'boolean' ? { ...result, isError: flag } : result;
}

/** Content for a result without any: its structured content as JSON text. */
function impliedContent({ structuredContent = {} }: WholeResult): ContentBlock[] {
  const structured = structuredContent as Record<string, unknown>;
  return Object.keys(structured).length === 0 ? [] : jsonResult(structured, { structured: false }).content;
}

function resultFault({ content = [], structuredContent = {}, _meta = {} }: WholeResult): string | undefined {
  if (!isRecord(structuredContent)) return '"structuredContent" is not an object';
  if (structuredContent instanceof Map || structuredContent instanceof Set) {
    return '"structuredContent" is a Map or a Set, not a plain object';
  }
  if (!isRecord(_meta)) return '"_meta" is not an object';
  let fault: string | undefined;
  content.some((block, index) => {
    fault = blockFault(block, index);
    return fault !== undefined;
  });
  return fault;
}

const REQUIRED_MEMBERS: { readonly [type: string]: readonly string[] | undefined } = {
  __proto__: null as never,
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
};

function blockFault(block: NonNullable<WholeResult['content']>[number], index: number): string | undefined {
  if (block.type === 'text' && typeof block.text === 'string') return undefined;
  const at = `content[${index}]`;
  if (block.type === 'resource') return resourceFault(block.resource, at);
  const required = REQUIRED_MEMBERS[block.type];
  if (!required) return `${at} has the unknown type ${JSON.stringify(block.type)}`;
  const missing = required.find((member) => typeof block[member] !== 'string');
  return missing && `${at} (${block.type}) has no string "${missing}"`;
}

function resourceFault(resource: unknown, at: string): string | undefined {
  if (!isRecord(resource)) return `${at} has no resource`;
  if (typeof resource.uri !== 'string') return `${at} (resource) has no string "uri"`;
  const hasBody = typeof resource.text === 'string' || typeof resource.blob === 'string';
  return hasBody ? undefined : `${at} (resource) has no string "text" or "blob"`;
}
/** JSON text of data and the data parsed from it; maps and sets become objects and arrays. Throws if the data is not serializable. */
export function plainJson(value: object): { text: string; data: unknown } {
  const text = JSON.stringify(value) ?? '';
  // Maps and sets are serialized as `{}`, so only such a text needs the slower conversion.
  if (!text.includes('{}')) return { text, data: value };
  let isConverted = false;
  const full = JSON.stringify(value, (_key, member: unknown) => {
    if (!(member instanceof Map) && !(member instanceof Set)) return member;
    isConverted = true;
    return member instanceof Map ? entriesOf(member) : [...member];
  });
  return isConverted ? { text: full, data: JSON.parse(full) } : { text, data: value };
}

/** A map with other keys than strings becomes a list of pairs, since keys could collide as text. */
function entriesOf(map: ReadonlyMap<unknown, unknown>): unknown {
  const isNamed = [...map.keys()].every((key) => typeof key === 'string');
  return isNamed ? Object.fromEntries(map) : [...map];
}
