import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isRecord } from '../../../base/json-value.ts';
import type { ControlChannel } from '../../../control/channel.ts';
import type { HookEffect } from '../../../hooks/hook-effect.ts';
import type { SessionHooks } from '../../../hooks/session-hooks.ts';
import type { ServerEntry } from '../../../mcp/connection/connect-context.ts';
import type { ClientFeatures, RequestHandler } from '../../../mcp/connection/server-requests.ts';
import { askPeople } from '../../../permissions/ask.ts';
import { decide } from '../../../permissions/decide.ts';
import { modeOf } from '../../../permissions/rule-store.ts';
import type { Usage, UserBlock } from '../../../protocol/agent-message.ts';
import { RpcMethodError } from '../../../protocol/json-rpc.ts';
import type { SessionContext } from '../../calls/call-context.ts';
import { MessageCollector, textOf } from '../../models/message-collector.ts';
import type { Model, ModelMessage } from '../../models/model.ts';

export type ServerRequestDeps = {
  readonly channel: () => ControlChannel;
  /** Rules, mode and people, for sampling requests of servers outside the program. */
  readonly permissions: () => SamplingPermissions;
  readonly hooks: SessionHooks;
  readonly model: Model;
  modelName(): string;
  /** The directories that the agent works on. */
  directories(): readonly string[];
  whileWaiting<T>(work: Promise<T>): Promise<T>;
  /** Receives the usage of sampling requests. */
  onUsage(model: string, usage: Usage): void;
};

/** What decides about a sampling request. */
export type SamplingPermissions = Pick<SessionContext, 'rules' | 'askers' | 'mayBypass' | 'workspace'>;

/**
 * Handlers of servers' requests. Sampling spends the user's tokens: requests of servers outside the program require
 * approval, and are offered only if a person or a rule can give it.
 */
export function serverRequestHandlers(
  server: string,
  entry: ServerEntry,
  deps: ServerRequestDeps,
): ClientFeatures {
  const answers: Record<string, RequestHandler> = {
    'elicitation/create': (params, signal) => elicit(server, params, deps, signal),
    'roots/list': async () => ({ roots: deps.directories().map(rootOf) }),
  };
  const capabilities = { elicitation: { form: {}, url: {} }, roots: { listChanged: true } };
  const isOwn = entry.type === 'sdk';
  if (!isOwn && !mayBePermitted(server, deps.permissions())) return { capabilities, handlers: answers };
  const sampling: RequestHandler = async (params, signal) => {
    if (!isOwn) await deps.whileWaiting(permitSampling(server, params, deps.permissions(), signal));
    return sample(params, deps, signal);
  };
  return {
    capabilities: { ...capabilities, sampling: {} },
    handlers: { ...answers, 'sampling/createMessage': sampling },
  };
}

function rootOf(path: string, at: number): { uri: string; name: string } {
  return { uri: pathToFileURL(path).href, name: at === 0 ? 'workspace' : basename(path) };
}

/** The name under which rules, hooks and people decide about a sampling request. */
const SAMPLING = 'Sampling';

function decideSampling(
  input: { readonly server: string } & Readonly<Record<string, unknown>>,
  { rules, mayBypass, workspace }: SamplingPermissions,
) {
  const current = rules.current();
  return decide({
    call: { name: SAMPLING, input },
    rules: current.rules,
    mode: modeOf(current),
    bypassLaunched: mayBypass,
    trusted: false,
    workspace: workspace(),
  });
}

function mayBePermitted(server: string, permissions: SamplingPermissions): boolean {
  const { kind } = decideSampling({ server }, permissions);
  return kind === 'allow' || (kind === 'ask' && permissions.askers.length > 0);
}

/** Rejects unless a rule, the mode or a person allows the request. */
async function permitSampling(
  server: string,
  params: Readonly<Record<string, unknown>>,
  permissions: SamplingPermissions,
  signal: AbortSignal,
): Promise<void> {
  const { systemPrompt, messages, maxTokens } = params;
  const input = {
    server,
    ...(systemPrompt !== undefined && { systemPrompt }),
    messages,
    ...(maxTokens !== undefined && { maxTokens }),
  };
  const { kind, reason } = decideSampling(input, permissions);
  if (kind === 'deny') throw rejected(reason.text);
  if (kind === 'allow') return;
  const rule = { toolName: SAMPLING, ruleContent: server };
  const { result } = await askPeople(
    permissions.askers,
    {
      call: { name: SAMPLING, input },
      toolUseId: `sampling_${randomUUID()}`,
      displayName: `MCP server "${server}" requests a completion of your model`,
      reason,
      suggestions: [{ type: 'addRules', rules: [rule], behavior: 'allow', destination: 'session' }],
    },
    signal,
  );
  if (result.behavior === 'deny') throw rejected(result.message);
  if (result.updatedPermissions) await permissions.rules.apply(result.updatedPermissions);
}

/** The error code of the MCP specification for a request that the user rejected. */
function rejected(why: string): RpcMethodError {
  return new RpcMethodError(-1, `The sampling request was rejected: ${why}`);
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

/** The maximum length of a completion for a server. */
const MAX_SAMPLING_TOKENS = 16_000;

/** Answers `sampling/createMessage` with one reply of the session's model, without tools. */
async function sample(
  params: Readonly<Record<string, unknown>>,
  { model, modelName, onUsage: spent }: ServerRequestDeps,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const outputTokens = Math.min(model.limits.outputTokens, MAX_SAMPLING_TOKENS);
  const given: unknown[] = Array.isArray(params.messages) ? params.messages : [];
  const collector = new MessageCollector();
  const request = {
    model: modelName(),
    system: typeof params.systemPrompt === 'string' ? params.systemPrompt : '',
    tools: [],
    messages: given.map(readMessage),
    maxTokens: isCount(params.maxTokens) ? Math.min(params.maxTokens, outputTokens) : outputTokens,
    thinking: 'disabled' as const,
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
