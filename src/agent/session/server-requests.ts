import { pathToFileURL } from 'node:url';
import { isRecord } from '../../base/json-value.ts';
import type { ControlChannel } from '../../control/channel.ts';
import type { HookEffect } from '../../hooks/hook-effect.ts';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { ServerEntry } from '../../mcp/connection/connect-context.ts';
import type { ClientFeatures, RequestHandler } from '../../mcp/connection/server-requests.ts';
import type { Usage, UserBlock } from '../../protocol/agent-message.ts';
import { MessageCollector, textOf } from '../models/message-collector.ts';
import type { Model, ModelMessage } from '../models/model.ts';

export type ServerRequestDeps = {
  readonly channel: () => ControlChannel;
  readonly hooks: SessionHooks;
  readonly model: Model;
  modelName(): string;
  readonly cwd: string;
  whileWaiting<T>(work: Promise<T>): Promise<T>;
  /** Receives the usage of sampling requests. */
  onUsage(model: string, usage: Usage): void;
};

/** Handlers of servers' requests. Sampling is offered to servers of the program only, because it spends the user's tokens. */
export function serverRequestHandlers(
  server: string,
  entry: ServerEntry,
  deps: ServerRequestDeps,
): ClientFeatures {
  const answers: Record<string, RequestHandler> = {
    'elicitation/create': (params, signal) => elicit(server, params, deps, signal),
    'roots/list': async () => ({ roots: [{ uri: pathToFileURL(deps.cwd).href, name: 'workspace' }] }),
  };
  const capabilities = { elicitation: { form: {}, url: {} }, roots: {} };
  if (entry.type !== 'sdk') return { capabilities, handlers: answers };
  return {
    capabilities: { ...capabilities, sampling: {} },
    handlers: { ...answers, 'sampling/createMessage': (params, signal) => sample(params, deps, signal) },
  };
}

const ACTIONS: ReadonlySet<string> = new Set(['accept', 'decline', 'cancel']);

type ElicitationAnswer = { action: string; content?: unknown };

/** Hooks may answer first and replace the answer last; an elicitation that reaches no person is cancelled. */
async function elicit(
  server: string,
  params: Readonly<Record<string, unknown>>,
  deps: ServerRequestDeps,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { message = '', mode = 'form', requestedSchema, url, elicitationId } = params;
  const request = {
    mcp_server_name: server,
    message,
    mode,
    ...(requestedSchema !== undefined && { requested_schema: requestedSchema }),
    ...(url !== undefined && { url }),
    ...(elicitationId !== undefined && { elicitation_id: elicitationId }),
  };
  const before = await deps.hooks.run('Elicitation', request as never, signal);
  const answer = hookAnswer(before) ?? (await deps.whileWaiting(askProgram(request, deps, signal)));
  const after = await deps.hooks.run('ElicitationResult', { ...request, ...answer } as never, signal);
  const { action, content } = hookAnswer(after) ?? answer;
  return { action, ...(action === 'accept' && isRecord(content) && { content }) };
}

async function askProgram(
  request: Record<string, unknown>,
  { channel }: ServerRequestDeps,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  try {
    const { response } = await channel().request({ subtype: 'elicitation', ...request }, { signal });
    const { action, content } = response;
    return action === 'accept' || action === 'decline' ? { action, content } : { action: 'cancel' };
  } catch {
    return { action: 'cancel' };
  }
}

function hookAnswer({ decision, elicitation }: HookEffect): ElicitationAnswer | undefined {
  if (elicitation) return ACTIONS.has(elicitation.action) ? elicitation : { action: 'cancel' };
  return decision === 'deny' ? { action: 'decline' } : undefined;
}

/** Answers `sampling/createMessage` with one reply of the session's model, without tools. */
async function sample(
  params: Readonly<Record<string, unknown>>,
  { model, modelName, onUsage: spent }: ServerRequestDeps,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { outputTokens } = model.limits;
  const given: unknown[] = Array.isArray(params.messages) ? params.messages : [];
  const collector = new MessageCollector();
  const request = {
    model: modelName(),
    system: typeof params.systemPrompt === 'string' ? params.systemPrompt : '',
    tools: [],
    messages: given.map(readMessage),
    maxTokens: isCount(params.maxTokens) ? Math.min(params.maxTokens, outputTokens) : outputTokens,
    signal,
  };
  for await (const event of model.stream(request)) collector.add(event);
  const { content, stop_reason, usage } = collector.message;
  spent(collector.message.model, usage);
  return {
    role: 'assistant',
    content: { type: 'text', text: textOf(content) },
    model: collector.message.model,
    stopReason: stop_reason === 'max_tokens' ? 'maxTokens' : 'endTurn',
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function readMessage(value: unknown): ModelMessage {
  const { role, content }: Record<string, unknown> = isRecord(value) ? value : {};
  const blocks = (Array.isArray(content) ? content : [content]).flatMap(readBlock);
  return role === 'assistant'
    ? { role, content: blocks.flatMap((it) => (it.type === 'text' ? [it] : [])) as never }
    : { role: 'user', content: blocks };
}

function readBlock(value: unknown): UserBlock[] {
  if (!isRecord(value)) return [];
  if (value.type === 'image' && typeof value.data === 'string') {
    const source = { type: 'base64', media_type: String(value.mimeType), data: value.data };
    return [{ type: 'image', source } as UserBlock];
  }
  return [{ type: 'text', text: typeof value.text === 'string' ? value.text : `[${String(value.type)}]` }];
}
