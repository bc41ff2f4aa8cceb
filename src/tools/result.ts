import { isRecord } from '../base/is-record.ts';
import type { CallToolResult, ContentBlock } from '../protocol/mcp.ts';
import { messageOf } from '../protocol/sdk-error.ts';

/**
 * What a handler returned, as a result (C22): text for strings, numbers, booleans and big integers, JSON text for
 * objects and arrays, nothing for null and undefined, a failure for an `Error`; a whole result passes as it is.
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
        `The tool returned a ${typeof value}, which cannot be sent. Return text, a number, plain data or a result.`,
      );
    case 'object':
      if (value === null) return { content: [] };
      if (value instanceof Error) return failedResult(messageOf(value));
      return isWholeResult(value) ? passResult(value) : jsonResult(value, options);
  }
}

/** A failure the model reads and can react to (C2). */
export function failedResult(message: string): CallToolResult {
  return { content: [{ type: 'text', text: message }], isError: true };
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

function jsonResult(value: object, options: { structured: boolean }): CallToolResult {
  let text: string;
  try {
    text = JSON.stringify(value) ?? '';
  } catch (cause) {
    return failedResult(`The tool returned data that cannot be written as JSON: ${messageOf(cause)}`);
  }
  const result = textResult(text);
  return options.structured ? { ...result, structuredContent: value as Record<string, unknown> } : result;
}

type WholeResult = { content?: unknown; isError?: unknown; is_error?: unknown; structuredContent?: unknown };

/** A list of content blocks, or one of the members only a result has; other objects with a `content` are data. */
function isWholeResult(value: object): value is WholeResult {
  const { content } = value as WholeResult;
  if (Array.isArray(content)) {
    return content.length === 0 || content.some((block) => isRecord(block) && typeof block.type === 'string');
  }
  return content === undefined && ('isError' in value || 'is_error' in value || 'structuredContent' in value);
}

/** Both spellings of the error flag are read, one is written (C3). */
function passResult(value: WholeResult): CallToolResult {
  const { content, is_error, ...rest } = value;
  const blocks = (content ?? []) as unknown[];
  const fault = blocks.map(blockFault).find((found) => found !== undefined);
  if (fault) return failedResult(`The tool returned a malformed result: ${fault}`);
  if (content !== undefined && is_error === undefined) return value as CallToolResult;
  const result = { content: blocks as ContentBlock[], ...rest } as CallToolResult;
  if (content === undefined && rest.structuredContent !== undefined) {
    result.content = jsonResult(rest.structuredContent as object, { structured: false }).content;
  }
  if ((rest.isError ?? is_error) === true) result.isError = true;
  return result;
}

const REQUIRED_MEMBERS: Record<string, readonly string[]> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
};

function blockFault(block: unknown, index: number): string | undefined {
  const at = `content[${index}]`;
  if (!isRecord(block) || typeof block.type !== 'string') return `${at} has no type`;
  if (block.type === 'resource') return isRecord(block.resource) ? undefined : `${at} has no resource`;
  const required = REQUIRED_MEMBERS[block.type];
  if (!required) return `${at} has the unknown type ${JSON.stringify(block.type)}`;
  const missing = required.find((member) => typeof block[member] !== 'string');
  return missing && `${at} (${block.type}) has no string "${missing}"`;
}
