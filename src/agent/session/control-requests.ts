import { isRecord } from '../../base/json-value.ts';
import type { Reply, ServedRequest } from '../../control/channel.ts';
import { readCallbackHooks } from '../../hooks/session-hooks.ts';
import { callServer, type Refusal } from '../../mcp/calls/call-tool.ts';

import type { ServerEntry } from '../../mcp/connection/connect-context.ts';
import { sdkEntry } from '../../mcp/servers/server-entry.ts';
import { modeOf } from '../../permissions/rule-store.ts';
import { serverArguments } from '../../pool/schema/model-schema.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permission.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { contextUsage } from '../loop/context-usage.ts';
import { listCommands } from '../turn/slash-commands.ts';
import { currentSystemPrompt, DEFAULT_SYSTEM_PROMPT } from '../turn/system-prompt.ts';
import { readAgents } from './agent-definition.ts';
import { allServerStatus, type ServerStatus } from './server-status.ts';
import type { Session } from './session.ts';

type Serve = (session: Session, body: Frame, served: Pick<ServedRequest, 'signal'>) => Reply | Promise<Reply>;

/** Everything a program may ask of a session, by subtype. */
const REQUESTS: ReadonlyMap<string, Serve> = new Map<string, Serve>([
  ['initialize', initialize],
  ['interrupt', (session) => ({ still_queued: session.interrupt() })],
  ['set_permission_mode', setMode],
  ['set_model', setModel],
  ['mcp_status', (session) => ({ mcpServers: statusOf(session) })],
  ['mcp_message', deliver],
  ['mcp_set_servers', setServers],
  ['mcp_toggle', toggle],
  ['mcp_reconnect', reconnect],
  ['mcp_call', callTool],
  ['get_context_usage', usage],
  ['supported_commands', (session) => ({ commands: listCommands(session) })],
  ['end_session', endSession],
]);

/** Serves one request of the program; an unknown one is refused by name. */
export function serveRequest(
  session: Session,
  subtype: string,
  body: Frame,
  served: Pick<ServedRequest, 'signal'>,
): Reply | Promise<Reply> {
  const serve = REQUESTS.get(subtype);
  if (serve) return serve(session, body, served);
  throw new SdkError('control-failed', `Unsupported control request subtype: ${subtype}`, {
    errorCode: 'unsupported_request',
  });
}

function initialize(session: Session, body: Frame): Frame {
  session.hooks.setCallbacks(readCallbackHooks(body.hooks));
  Object.assign(session.agents, readAgents(body.agents));
  session.servers.add(programServers(body), 'sdk');
  if (Array.isArray(body.systemPrompt)) session.systemPrompt = body.systemPrompt.map(String).join('\n\n');
  else if (session.systemPrompt === '') session.systemPrompt = DEFAULT_SYSTEM_PROMPT;
  if (typeof body.appendSystemPrompt === 'string') session.appendSystemPrompt = body.appendSystemPrompt;
  for (const text of unsupportedOptions(body)) session.options.note?.(text);
  return {
    commands: listCommands(session),
    agents: Object.entries(session.agents).map(([name, { description, model }]) => ({
      name,
      description,
      ...(model && { model }),
    })),
    output_style: 'default',
    available_output_styles: ['default'],
    models: [{ value: session.modelName, displayName: session.modelName, description: '' }],
    account: {},
    pid: process.pid,
    current_permission_mode: modeOf(session.context.rules.current()),
    session_state: session.state.state,
  };
}

/** The servers in the program, with the handshakes and limits it sent along. */
function programServers(body: Frame): Record<string, ServerEntry> {
  const names = Array.isArray(body.sdkMcpServers) ? body.sdkMcpServers.map(String) : [];
  const configs = mapOf(body.sdkMcpServerConfigs);
  const manifests = mapOf(body.sdkMcpServerManifests);
  return Object.fromEntries(
    names.map((name) => [name, sdkEntry(name, configs.get(name), manifests.get(name))]),
  );
}

function mapOf(value: unknown): Map<string, unknown> {
  return new Map(Object.entries(isRecord(value) ? value : {}));
}

async function setMode(session: Session, { mode }: Frame): Promise<Reply> {
  if (!(PERMISSION_MODES as readonly unknown[]).includes(mode)) {
    throw new SdkError('control-failed', `There is no permission mode ${JSON.stringify(mode)}`);
  }
  if (mode === 'bypassPermissions' && !session.context.mayBypass) {
    throw new SdkError(
      'control-failed',
      'Mode bypassPermissions was not enabled at launch: start with allowDangerouslySkipPermissions',
      { errorCode: 'bypass_not_launched' },
    );
  }
  await session.context.rules.apply([
    { type: 'setMode', mode: mode as PermissionMode, destination: 'session' },
  ]);
  return { mode };
}

function setModel(session: Session, { model }: Frame): undefined {
  session.modelName = typeof model === 'string' && model !== 'default' ? model : session.options.modelName;
}

function deliver(session: Session, body: Frame): undefined {
  session.ports.deliver(String(body.server_name ?? body.serverName), body.message);
}

async function setServers(session: Session, { servers }: Frame): Promise<Reply> {
  if (!isRecord(servers)) throw new SdkError('control-failed', 'mcp_set_servers needs "servers", an object');
  return session.servers.replace(servers);
}

async function toggle(session: Session, { serverName, enabled }: Frame): Promise<Reply> {
  const name = String(serverName);
  if (!(await session.servers.toggle(name, enabled === true ? 'enabled' : 'disabled'))) throw notFound(name);
  return undefined;
}

async function reconnect(session: Session, { serverName }: Frame): Promise<Reply> {
  const name = String(serverName);
  const state = await session.servers.reconnect(name);
  if (!state) throw notFound(name);
  if ('fault' in state) throw new SdkError('control-failed', `${name}: ${state.fault}`, { server: name });
  return undefined;
}

function notFound(name: string): SdkError {
  return new SdkError('control-failed', `Server not found: ${name}`, { server: name });
}

function statusOf({ servers, options }: Session): ServerStatus[] {
  return allServerStatus(servers.all, options.configured);
}

/** A call of the program's own, without the model: no rule is asked, but a tool that is not what was accepted is not called. */
async function callTool(
  session: Session,
  body: Frame,
  { signal }: Pick<ServedRequest, 'signal'>,
): Promise<Reply> {
  const name = String(body.tool);
  const tool = session.pool().byName.get(name);
  const server = tool?.origin.kind === 'mcp' ? tool.origin : undefined;
  const target = server && session.servers.target(server.server);
  if (!target) {
    throw new SdkError('control-failed', `There is no tool ${name} of a connected server`);
  }
  const given = isRecord(body.arguments) ? body.arguments : {};
  // Under the names the server gave its parameters, as a model's are.
  const args = tool ? serverArguments(tool.listed.inputSchema, given) : given;
  const whyNot = () => whyNotCall(session, server);
  const call = { ...server, args: { ...args }, signal, whyNot };
  return (await callServer(target, call, session.context.journal, session.context.callLimits)) as Frame;
}

/** A program that calls tools past the model is told of a change as a model's call is, by an error. */
function whyNotCall(
  { servers, context: world }: Session,
  { server: name, tool }: { readonly server: string; readonly tool: string },
): Refusal | undefined {
  const server = servers.all.get(name);
  const listed = servers.target(name)?.tool(tool);
  const change = server && listed && world.pins.changeOf(name, server, listed);
  if (!change?.before && !change?.isNew) return undefined;
  const fault = `tool ${JSON.stringify(tool)} is not what was accepted: ${change.text}; nothing was sent; ${world.pins.remedyOf(change)}`;
  return { code: 'tool-changed', fault };
}

function usage(session: Session): Frame {
  const { model } = session.options;
  const { lastUsage, messages } = session.conversation;
  const pool = session.pool();
  const told = new Set(session.disclosure.divide(pool).told.map(({ name }) => name));
  return contextUsage({
    model: session.modelName,
    system: currentSystemPrompt(session),
    tools: pool.tools.map(({ name, description, inputSchema, origin }) => ({
      name,
      isLoaded: told.has(name),
      description,
      input_schema: inputSchema,
      ...(origin.kind === 'mcp' && { server: origin.server }),
    })),
    messages,
    limits: model.limits,
    compacts: 'by-itself',
    ...(lastUsage && { lastUsage }),
  }) as unknown as Frame;
}

/** The answer leaves before anything ends. */
function endSession(session: Session): undefined {
  session.end();
}

/** What of `initialize` and of its agents changes nothing here, in words; nothing is passed over in silence. */
export function unsupportedOptions(body: Frame): string[] {
  const agents = Object.entries(isRecord(body.agents) ? body.agents : {});
  return [
    ...given(body, MEMBERS).map((name) => `options.${name} has no effect with this agent`),
    ...agents.flatMap(([agent, definition]) =>
      given(isRecord(definition) ? definition : {}, AGENT_MEMBERS).map(
        (name) => `options.agents["${agent}"].${name} has no effect with this agent`,
      ),
    ),
  ];
}

/** Members under the names that options have. */
const MEMBERS: readonly string[] = [
  'agentProgressSummaries',
  'forwardSubagentText',
  'jsonSchema',
  'perTaskStopAffordance',
  'planModeInstructions',
  'plugins',
  'promptSuggestions',
  'skills',
  'supportedDialogKinds',
  'systemPromptSnapshot',
  'title',
  'toolAliases',
];

const AGENT_MEMBERS: readonly string[] = [
  'autoCompactWindow',
  'background',
  'criticalSystemReminder_EXPERIMENTAL',
  'effort',
  'initialPrompt',
  'memory',
  'permissionMode',
  'skills',
];

/** False, empty and absent ask for nothing. */
function given(from: Readonly<Record<string, unknown>>, names: readonly string[]): string[] {
  return names.filter((name) => {
    const value = from[name];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false && value !== null;
  });
}
