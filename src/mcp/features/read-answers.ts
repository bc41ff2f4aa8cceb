import { isRecord } from '../../base/is-record.ts';
import type { ContentBlock, ResourceContents } from '../../protocol/mcp.ts';
import { malformed } from './feature-fault.ts';
import { faultOfBlock, faultOfContents } from './read-content.ts';

/** The contents of a resource; binary data is base64 in `blob`. */
export type ReadResource = { contents: ResourceContents[]; _meta?: Record<string, unknown> };

/** One message of a prompt. Unknown content keeps its `type`. */
export type PromptMessage = { role: 'user' | 'assistant'; content: ContentBlock };

/** A prompt with its arguments filled in by the server. */
export type FilledPrompt = {
  description?: string;
  messages: PromptMessage[];
  _meta?: Record<string, unknown>;
};

/** Completions for an argument. `total` and `hasMore` are present if the server reported them. */
export type Completion = { values: string[]; total?: number; hasMore?: boolean };

/** Reads the answer to `resources/read`; throws a `HostError` that says what is wrong with it. */
export function readResourceAnswer(server: string, uri: string, answer: unknown): ReadResource {
  const given: unknown = isRecord(answer) ? answer.contents : undefined;
  const method = 'resources/read';
  if (!Array.isArray(given)) throw malformed(server, method, '"contents" must be a list');
  const contents = given.map((value: unknown, at): ResourceContents => {
    // A piece that does not say where it is from is from where it was asked for.
    const piece = isRecord(value) && value.uri === undefined ? { ...value, uri } : value;
    const fault = faultOfContents(piece);
    if (fault !== undefined) throw malformed(server, method, `contents[${at}]: ${fault}`);
    return piece as ResourceContents;
  });
  return { contents, ...metaOf(answer) };
}

/** Reads the answer to `prompts/get`; throws a `HostError` that says what is wrong with it. */
export function readPromptAnswer(server: string, answer: unknown): FilledPrompt {
  const { messages: given, description }: Record<string, unknown> = isRecord(answer) ? answer : {};
  const method = 'prompts/get';
  if (!Array.isArray(given)) throw malformed(server, method, '"messages" must be a list');
  const messages = given.map((value: unknown, at): PromptMessage => {
    const fault = faultOfMessage(value);
    if (fault !== undefined) throw malformed(server, method, `messages[${at}]: ${fault}`);
    return value as PromptMessage;
  });
  return { ...(typeof description === 'string' && { description }), messages, ...metaOf(answer) };
}

/** Reads the answer to `completion/complete`; throws a `HostError` that says what is wrong with it. */
export function readCompletionAnswer(server: string, answer: unknown): Completion {
  const completion: unknown = isRecord(answer) ? answer.completion : undefined;
  const { values, total, hasMore }: Record<string, unknown> = isRecord(completion) ? completion : {};
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'string'))
    throw malformed(server, 'completion/complete', '"completion.values" must be a list of strings');
  return {
    values,
    ...(typeof total === 'number' && { total }),
    ...(typeof hasMore === 'boolean' && { hasMore }),
  };
}

function faultOfMessage(value: unknown): string | undefined {
  if (!isRecord(value)) return 'it is no object';
  if (value.role !== 'user' && value.role !== 'assistant') return '"role" must be "user" or "assistant"';
  const fault = faultOfBlock(value.content);
  return fault === undefined ? undefined : `"content": ${fault}`;
}

function metaOf(answer: unknown): { _meta?: Record<string, unknown> } {
  return isRecord(answer) && isRecord(answer._meta) ? { _meta: answer._meta } : {};
}
