import { pathToFileURL } from 'node:url';
import { isRecord } from '../../base/json-value.ts';
import type { ControlChannel } from '../../control/channel.ts';
import type { HookEffect } from '../../hooks/hook-effect.ts';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { ServerEntry } from '../../mcp/connection/connect-context.ts';
import type { ServerAnswer, ServerOffer } from '../../mcp/connection/server-requests.ts';
import type { Usage, UserBlock } from '../../protocol/agent-message.ts';
import { MessageCollector } from '../models/message-collector.ts';
import type { Model, ModelMessage } from '../models/model.ts';

export type ServerRequestDeps = {
  readonly channel: () => ControlChannel;
  readonly hooks: SessionHooks;
  readonly model: Model;
  modelName(): string;
  readonly cwd: string;
  whileWaiting<T>(work: Promise<T>): Promise<T>;
  /** Hears what a server's question took. */
  onUsage(model: string, usage: Usage): void;
};

/** What each server may ask: people always; the model only if it lives in the program, since it spends the person's tokens. */
export function serverRequestHandlers(
  server: string,
  entry: ServerEntry,
  world: ServerRequestDeps,
): ServerOffer {
  const answers: Record<string, ServerAnswer> = {
    'elicitation/create': (params, signal) => elicit(server, params, world, signal),
    'roots/list': async () => ({ roots: [{ uri: pathToFileURL(world.cwd).href, name: 'workspace' }] }),
  };
  const capabilities = { elicitation: { form: {}, url: {} }, roots: {} };
  if (entry.type !== 'sdk') return { capabilities, answers };
  return {
    capabilities: { ...capabilities, sampling: {} },
    answers: { ...answers, 'sampling/createMessage': (params, signal) => sample(params, world, signal) },
  };
}

const ACTIONS: ReadonlySet<string> = new Set(['accept', 'decline', 'cancel']);

type Elicited = { action: string; content?: unknown };

/** Hooks may answer first and change the answer last; a question that reaches nobody is cancelled. */
async function elicit(
  server: string,
  params: Readonly<Record<string, unknown>>,
  world: ServerRequestDeps,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { message = '', mode = 'form', requestedSchema, url, elicitationId } = params;
  const about = {
    mcp_server_name: server,
    message,
    mode,
    ...(requestedSchema !== undefined && { requested_schema: requestedSchema }),
    ...(url !== undefined && { url }),
    ...(elicitationId !== undefined && { elicitation_id: elicitationId }),
  };
  const before = await world.hooks.run('Elicitation', about as never, signal);
  const answer = elicitedBy(before) ?? (await world.whileWaiting(askPerson(about, world, signal)));
  const after = await world.hooks.run('ElicitationResult', { ...about, ...answer } as never, signal);
  const { action, content } = elicitedBy(after) ?? answer;
  return { action, ...(action === 'accept' && isRecord(content) && { content }) };
}

async function askPerson(
  about: Record<string, unknown>,
  { channel }: ServerRequestDeps,
  signal: AbortSignal,
): Promise<Elicited> {
  try {
    const { response } = await channel().request({ subtype: 'elicitation', ...about }, { signal });
    const { action, content } = response;
    return action === 'accept' || action === 'decline' ? { action, content } : { action: 'cancel' };
  } catch {
    return { action: 'cancel' };
  }
}

function elicitedBy({ decision, elicitation }: HookEffect): Elicited | undefined {
  if (elicitation) return ACTIONS.has(elicitation.action) ? elicitation : { action: 'cancel' };
  return decision === 'deny' ? { action: 'decline' } : undefined;
}

/** One reply of the session's model to a server's own conversation, without tools. */
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
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  return {
    role: 'assistant',
    content: { type: 'text', text },
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
