import { isRecord } from '../../base/json-value.ts';
import { nearest } from '../../base/text/nearest.ts';
import type { ContentBlock, ResourceContents } from '../../protocol/mcp.ts';
import type { Connection } from '../connection/connection.ts';
import type { Prompt } from '../discovery/list-entries.ts';
import { HostError } from '../errors/host-error.ts';

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

/** Parses the result of `resources/read`; throws a `HostError` if it is malformed. */
export function parseResourceResult(server: string, uri: string, answer: unknown): ReadResource {
  const given: unknown = isRecord(answer) ? answer.contents : undefined;
  const method = 'resources/read';
  if (!Array.isArray(given)) throw malformedResultError(server, method, '"contents" must be a list');
  const contents = given.map((value: unknown, at): ResourceContents => {
    // Contents without a URI are those of the requested one.
    const piece = isRecord(value) && value.uri === undefined ? { ...value, uri } : value;
    const detail = contentsError(piece);
    if (detail !== undefined) throw malformedResultError(server, method, `contents[${at}]: ${detail}`);
    return piece as ResourceContents;
  });
  return { contents, ...metaOf(answer) };
}

/** Parses the result of `prompts/get`; throws a `HostError` if it is malformed. */
export function parsePromptResult(server: string, answer: unknown): FilledPrompt {
  const { messages: given, description }: Record<string, unknown> = isRecord(answer) ? answer : {};
  const method = 'prompts/get';
  if (!Array.isArray(given)) throw malformedResultError(server, method, '"messages" must be a list');
  const messages = given.map((value: unknown, at): PromptMessage => {
    const detail = messageError(value);
    if (detail !== undefined) throw malformedResultError(server, method, `messages[${at}]: ${detail}`);
    return value as PromptMessage;
  });
  return { ...(typeof description === 'string' && { description }), messages, ...metaOf(answer) };
}

/** Parses the result of `completion/complete`; throws a `HostError` if it is malformed. */
export function parseCompletionResult(server: string, answer: unknown): Completion {
  const completion: unknown = isRecord(answer) ? answer.completion : undefined;
  const { values, total, hasMore }: Record<string, unknown> = isRecord(completion) ? completion : {};
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'string'))
    throw malformedResultError(
      server,
      'completion/complete',
      '"completion.values" must be a list of strings',
    );
  return {
    values,
    ...(typeof total === 'number' && { total }),
    ...(typeof hasMore === 'boolean' && { hasMore }),
  };
}

function messageError(value: unknown): string | undefined {
  if (!isRecord(value)) return 'not an object';
  if (value.role !== 'user' && value.role !== 'assistant') return '"role" must be "user" or "assistant"';
  const detail = blockError(value.content);
  return detail === undefined ? undefined : `"content": ${detail}`;
}

function metaOf(answer: unknown): { _meta?: Record<string, unknown> } {
  return isRecord(answer) && isRecord(answer._meta) ? { _meta: answer._meta } : {};
}

/** Validates the known members of resource contents; unknown members are allowed. */
function contentsError(value: unknown): string | undefined {
  if (!isRecord(value)) return 'not an object';
  if (typeof value.uri !== 'string') return '"uri" must be a string';
  if (value.mimeType !== undefined && typeof value.mimeType !== 'string')
    return '"mimeType" must be a string';
  if (value.text !== undefined && typeof value.text !== 'string') return '"text" must be a string';
  if (value.blob !== undefined && typeof value.blob !== 'string') return '"blob" must be a base64 string';
  return value.text === undefined && value.blob === undefined ? 'has neither "text" nor "blob"' : undefined;
}

/** Validates one content block; unknown types pass unchanged. */
function blockError(value: unknown): string | undefined {
  if (!isRecord(value) || typeof value.type !== 'string') return 'must be an object with a "type"';
  if (value.type === 'resource') {
    const detail = contentsError(value.resource);
    return detail === undefined ? undefined : `"resource": ${detail}`;
  }
  const members = Object.hasOwn(MEMBERS, value.type) ? (MEMBERS[value.type] ?? []) : [];
  const odd = members.find((member) => typeof value[member] !== 'string');
  return odd === undefined ? undefined : `"${odd}" must be a string`;
}

const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
};

/** What is completed: an argument of a prompt, by name, or of a resource template, by `uriTemplate`. */
export type CompletionOf = { readonly prompt: string } | { readonly resourceTemplate: string };

/** The capability exists since this revision; servers of earlier ones may support completion without it. */
const CAPABILITY_SINCE = '2025-03-26';

export function mayComplete({
  capabilities,
  protocolVersion,
}: Pick<Connection, 'capabilities' | 'protocolVersion'>): boolean {
  return (
    capabilities.completions !== undefined || (protocolVersion !== '' && protocolVersion < CAPABILITY_SINCE)
  );
}

export function completionParams(
  of: CompletionOf,
  { name, value }: { readonly name: string; readonly value: string },
  context: Readonly<Record<string, string>>,
): Record<string, unknown> {
  return {
    ref:
      'prompt' in of
        ? { type: 'ref/prompt', name: of.prompt }
        : { type: 'ref/resource', uri: of.resourceTemplate },
    argument: { name, value },
    ...(Object.keys(context).length > 0 && { context: { arguments: { ...context } } }),
  };
}

/** The server lacks the capability, so no request is sent. */
export function notOfferedError(server: string, what: string): HostError {
  return new HostError('not-offered', server, `the server does not offer ${what}`, { hasRun: 'no' });
}

/** A file of a skill is not what the server announced when it listed the skill. */
export function unverifiedError(server: string, uri: string, detail: string): HostError {
  const text = `the skill file ${uri} was refused: ${detail}; report this to the server's author`;
  return new HostError('unreachable', server, text);
}

/** The server sent a result of the wrong shape. */
function malformedResultError(server: string, method: string, detail: string): HostError {
  const text = `its response to "${method}" is malformed: ${detail}; report this to the server's author`;
  return new HostError('unreachable', server, text);
}

/** Lists the available prompts, up to a limit. */
function unknownPrompt(server: string, name: string, known: readonly string[]): HostError {
  const similar = nearest(name, known);
  const available = known.length > 0 ? `available: ${formatNames(known)}` : 'the server offers no prompts';
  const hint = similar === undefined ? available : `did you mean "${similar}"? ${available}`;
  return new HostError('not-offered', server, `the server has no prompt "${name}"; ${hint}`, {
    hasRun: 'no',
  });
}

function lackingArguments(
  server: string,
  prompt: string,
  missing: readonly string[],
  required: readonly string[],
): HostError {
  const detail = `missing arguments of prompt "${prompt}": ${formatNames(missing)}; required: ${formatNames(required)}`;
  return new HostError('not-offered', server, detail, { hasRun: 'no' });
}

const MAX_NAMES = 20;

function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => `"${name}"`);
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return shown.join(', ') + more;
}

/** Why a prompt cannot be used with these arguments; undefined if it can. */
export function promptError(
  server: string,
  prompts: readonly Prompt[],
  name: string,
  given: Readonly<Record<string, string>>,
): Error | undefined {
  const prompt = prompts.find((it) => it.name === name);
  if (!prompt)
    return unknownPrompt(
      server,
      name,
      prompts.map((it) => it.name),
    );
  const required = prompt.arguments.flatMap((it) => (it.required ? [it.name] : []));
  const missing = required.filter((it) => !Object.hasOwn(given, it));
  return missing.length > 0 ? lackingArguments(server, name, missing, required) : undefined;
}
