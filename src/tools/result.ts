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

type WholeResult = {
  content?: unknown;
  isError?: unknown;
  is_error?: unknown;
  structuredContent?: unknown;
  _meta?: unknown;
};

/** A list of content blocks, or one of the members only a result has; other objects with a `content` are data. */
function isWholeResult(value: object): value is WholeResult {
  if ('isError' in value || 'is_error' in value || 'structuredContent' in value) return true;
  const { content } = value as WholeResult;
  if (!Array.isArray(content)) return false;
  return content.length === 0 || content.some((block) => isRecord(block) && typeof block.type === 'string');
}

/** Both spellings of the error flag are read, the camel one wins, and only it is written (C3). */
function passResult(value: WholeResult): CallToolResult {
  const fault = resultFault(value);
  if (fault) return failedResult(`The tool returned a malformed result: ${fault}`);
  const { content, isError, is_error, ...rest } = value;
  const flag = isError ?? is_error;
  const result = { content: content ?? impliedContent(rest), ...rest } as CallToolResult;
  return typeof flag === 'boolean' ? { ...result, isError: flag } : result;
}

/** A result without content is told to the model as JSON text, so that nothing of it is lost. */
function impliedContent({ structuredContent, _meta, ...data }: WholeResult): ContentBlock[] {
  const told = structuredContent ?? data;
  return Object.keys(told).length === 0 ? [] : jsonResult(told, { structured: false }).content;
}

function resultFault({ content = [], structuredContent = {}, _meta = {} }: WholeResult): string | undefined {
  if (!Array.isArray(content)) return '"content" is not a list';
  if (!isRecord(structuredContent)) return '"structuredContent" is not an object';
  if (!isRecord(_meta)) return '"_meta" is not an object';
  return content.map(blockFault).find((found) => found !== undefined);
}

const REQUIRED_MEMBERS: { readonly [type: string]: readonly string[] | undefined } = {
  __proto__: null as never,
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
};

function blockFault(block: unknown, index: number): string | undefined {
  const at = `content[${index}]`;
  if (!isRecord(block) || typeof block.type !== 'string') return `${at} has no type`;
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
