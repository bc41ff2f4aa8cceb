import { randomUUID } from 'node:crypto';
import { isRecord } from '../../../base/json-value.ts';
import type { Reply, ServedRequest } from '../../../control/channel.ts';
import { neverRuns } from '../../../hooks/match-hooks.ts';
import { readCallbackHooks } from '../../../hooks/session-hooks.ts';
import { type CallRefusal, callTool, type ServerCall } from '../../../mcp/calls/call-tool.ts';

import type { ServerEntry } from '../../../mcp/connection/connect-context.ts';
import { sdkEntry } from '../../../mcp/servers/server-entry.ts';
import { modeOf } from '../../../permissions/rule-store.ts';
import { serverArguments } from '../../../pool/schema/model-schema.ts';
import type { Frame } from '../../../protocol/control-frame.ts';
import { flagName, SYSTEM_PROMPT_DYNAMIC_BOUNDARY } from '../../../protocol/launch-flag.ts';
import type { JsonSchema } from '../../../protocol/mcp.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../../protocol/permission.ts';
import { SdkError } from '../../../protocol/sdk-error.ts';
import { parseAgents, UNSUPPORTED_MEMBERS } from '../../builtins/agents/agent-definition.ts';
import { StructuredOutput } from '../../builtins/structured-output.ts';
import { contextUsage } from '../../loop/context-usage.ts';
import { commandNames, listCommands } from '../../turn/slash-commands.ts';
import { currentSystemPrompt, DEFAULT_SYSTEM_PROMPT } from '../../turn/system-prompt.ts';
import { announceCommands } from '../../turn/take-turn.ts';
import { replayMessage, sortedAgents } from '../../turn/turn-report.ts';
import { unknownChannels } from '../channel-notices.ts';
import { commandOutput } from '../conversation.ts';
import { allServerStatus, type ServerStatus } from '../server-status.ts';
import type { Session } from '../session.ts';

type Serve = (session: Session, body: Frame, served: Pick<ServedRequest, 'signal'>) => Reply | Promise<Reply>;

/** The control requests that a program may send, by subtype. */
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
  ['mcp_call', serveCallTool],
  [
    'mcp_authenticate',
    async (session, body) => (await import('./auth-requests.ts')).authenticate(session, body),
  ],
  [
    'mcp_oauth_callback_url',
    async (session, body) => (await import('./auth-requests.ts')).takeCallbackUrl(session, body),
  ],
  ['mcp_clear_auth', async (session, body) => (await import('./auth-requests.ts')).clearAuth(session, body)],
  ['stop_task', stopTask],
  [
    'background_tasks',
    (session, body) => ({ backgrounded: session.tasks.requestMove(textOf(body.tool_use_id)) }),
  ],
  ['get_context_usage', readContextUsage],
  ['read_file', async (...request) => (await import('./file-requests.ts')).readFile(...request)],
  ['rewind_files', async (...request) => (await import('./file-requests.ts')).rewindFiles(...request)],
  ['supported_commands', (session) => ({ commands: listCommands(session) })],
  ['reload_skills', reloadSkills],
  [
    'reload_output_styles',
    (session) => {
      session.skills.refresh();
      return { available_output_styles: session.skills.styleNames };
    },
  ],
  ['end_session', endSession],
]);

/** Serves one control request of the program; an unknown subtype is an error. */
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

async function initialize(session: Session, body: Frame): Promise<Reply> {
  const callbacks = readCallbackHooks(body.hooks);
  session.hooks.setCallbacks(callbacks);
  Object.assign(session.agents, parseAgents(body.agents));
  if (Array.isArray(body.skills)) session.skills.select(body.skills.map(String));
  session.skills.refresh();
  session.applyLeadModel();
  const { agent, note, nameOf = flagName } = session.options;
  for (const event of new Set(callbacks.map((it) => it.event))) {
    const unsupported = neverRuns(event);
    if (unsupported !== undefined) note?.(`hooks for ${event} are ignored: ${unsupported}`);
  }
  if (agent !== undefined && !Object.hasOwn(session.agents, agent)) {
    note?.(`${nameOf('agent')} ${JSON.stringify(agent)} is ignored: no agent with this name is defined`);
  }
  session.servers.add(programServers(body), 'sdk');
  for (const text of unknownChannels(session.options, session.servers)) note?.(text);
  if (Array.isArray(body.systemPrompt))
    session.systemPrompt = body.systemPrompt
      .filter((block) => block !== SYSTEM_PROMPT_DYNAMIC_BOUNDARY)
      .map(String)
      .join('\n\n');
  else if (session.systemPrompt === '') session.systemPrompt = DEFAULT_SYSTEM_PROMPT;
  if (session.environment) {
    session.environment.hasOwnPrompt = !Array.isArray(body.systemPrompt);
    session.environment.isInReminder = body.excludeDynamicSections === true;
  }
  if (typeof body.appendSystemPrompt === 'string') session.appendSystemPrompt = body.appendSystemPrompt;
  if (typeof body.title === 'string' && body.title.trim() !== '')
    session.conversation.rename(body.title.trim());
  for (const text of unsupportedOptions(body)) session.options.note?.(text);
  if (typeof body.planModeInstructions === 'string')
    session.planMode.instructions = body.planModeInstructions;
  session.forwardsSubAgentText = body.forwardSubagentText === true;
  session.isInitialized = true;
  session.announcedCommands = commandNames(listCommands(session));
  if (isRecord(body.jsonSchema) && !session.output) session.output = await compileOutput(body.jsonSchema);
  return {
    commands: listCommands(session),
    agents: sortedAgents(session).map(([name, { description, model }]) => ({
      name,
      description,
      ...(model && { model }),
    })),
    output_style: session.skills.styleName,
    available_output_styles: session.skills.styleNames,
    models: session.options.models ?? [
      { value: session.modelName, displayName: session.modelName, description: '' },
    ],
    account: session.options.account ?? {},
    pid: process.pid,
    current_permission_mode: modeOf(session.context.rules.current()),
    session_state: session.state.state,
  };
}

async function compileOutput(schema: JsonSchema): Promise<StructuredOutput> {
  const output = await StructuredOutput.compile(schema);
  if (output instanceof StructuredOutput) return output;
  throw new SdkError('control-failed', `jsonSchema is not a valid JSON Schema: ${output.fault}`);
}

/** The servers in the program, with the handshakes and limits it sent. */
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
    throw new SdkError(
      'control-failed',
      `Unknown permission mode ${JSON.stringify(mode)}: use one of ${PERMISSION_MODES.join(', ')}`,
    );
  }
  if (mode === 'bypassPermissions' && !session.context.mayBypass) {
    const { nameOf = flagName } = session.options;
    throw new SdkError(
      'control-failed',
      `Mode bypassPermissions was not enabled at launch: start with ${nameOf('allow-dangerously-skip-permissions')}`,
      { errorCode: 'bypass_not_launched' },
    );
  }
  await session.context.rules.apply([
    { type: 'setMode', mode: mode as PermissionMode, destination: 'session' },
  ]);
  return { mode };
}

function setModel(session: Session, { model }: Frame): undefined {
  const { modelName, defaultModelName = modelName, resolveModelName = (name) => name } = session.options;
  if (typeof model === 'string' && model.trim() === '') {
    const fault = 'The name of the model is empty: pass the name of a model, or none for the default';
    throw new SdkError('control-failed', fault);
  }
  const isNamed = typeof model === 'string' && model !== 'default';
  const next = isNamed ? resolveModelName(model) : defaultModelName;
  session.planModelName = isNamed ? session.options.planNameOf?.(model) : undefined;
  if (next === session.modelName) return;
  session.modelName = next;
  // The first model of a conversation is no change.
  if (session.conversation.messages.length === 0) return;
  const label = isNamed && model !== next ? `${model} (${next})` : next;
  const output = `Set model to \`${label}\``;
  const uuid = randomUUID();
  session.conversation.noteCommand({ name: 'model', args: isNamed ? model : 'default', output, uuid });
  session.emit(
    replayMessage({ message: { role: 'user', content: commandOutput(output) }, uuid }, new Date()),
  );
}

function deliver(session: Session, body: Frame): undefined {
  session.ports.deliver(String(body.server_name ?? body.serverName), body.message);
}

async function setServers(session: Session, { servers }: Frame): Promise<Reply> {
  if (!isRecord(servers))
    throw new SdkError('control-failed', 'mcp_set_servers requires "servers" to be an object');
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
  if ('fault' in state)
    throw new SdkError('control-failed', `${name}: ${state.fault}`, { server: name, detail: state.fault });
  return undefined;
}

function notFound(name: string): SdkError {
  return new SdkError('control-failed', `Server not found: ${name}`, {
    server: name,
    detail: 'server not found',
  });
}

function statusOf({ servers, options }: Session): ServerStatus[] {
  return allServerStatus(servers.all, options.configured);
}

/** Calls a tool for the program, without the model: rules do not apply, but a tool that differs from its accepted definition is not called. */
async function serveCallTool(
  session: Session,
  body: Frame,
  { signal }: Pick<ServedRequest, 'signal'>,
): Promise<Reply> {
  const name = String(body.tool);
  const tool = session.pool().byName.get(name);
  const server = tool?.origin.kind === 'mcp' ? tool.origin : undefined;
  const target = server && session.servers.target(server.server);
  if (!target) {
    throw new SdkError('control-failed', `No connected server has a tool ${name}`);
  }
  const given = isRecord(body.arguments) ? body.arguments : {};
  // The server's own parameter names, as for calls of the model.
  const args = tool ? serverArguments(tool.listed.inputSchema, given) : given;
  const call: ServerCall = {
    server: server.server,
    tool: server.tool,
    args: { ...args },
    signal,
    refusal: () => changedTool(session, server),
  };
  return (await callTool(target, call, session.context.journal, session.context.callLimits)) as Frame;
}

/** The error of a call to a changed tool. */
function changedTool(
  { servers, context }: Session,
  { server: name, tool }: { readonly server: string; readonly tool: string },
): CallRefusal | undefined {
  const server = servers.all.get(name);
  const listed = servers.target(name)?.tool(tool);
  const change = server && listed && context.pins.changeOf(name, server, listed);
  if (!change?.before && !change?.isNew) return undefined;
  const fault = `the definition of tool ${JSON.stringify(tool)} is not accepted: ${change.text}; nothing was sent; ${context.pins.remedyOf(change)}`;
  return { code: 'tool-changed', detail: fault };
}

function readContextUsage(session: Session): Frame {
  const { model } = session.options;
  const { lastUsage, messages } = session.conversation;
  const pool = session.pool();
  const disclosed = new Set(session.disclosure.divide(pool).disclosed.map(({ name }) => name));
  return contextUsage({
    model: session.modelName,
    system: currentSystemPrompt(session),
    tools: pool.tools.map(({ name, description, inputSchema, origin }) => ({
      name,
      isLoaded: disclosed.has(name),
      description,
      input_schema: inputSchema,
      ...(origin.kind === 'mcp' && { server: origin.server }),
    })),
    messages,
    limits: model.limits,
    memoryFiles: session.memory?.usage ?? [],
    ...(lastUsage && { lastUsage }),
  }) as unknown as Frame;
}

/** Reads the files again; the program gets the commands of files, and a message if the list has changed. */
function reloadSkills(session: Session): Frame {
  session.skills.refresh();
  announceCommands(session);
  return { skills: session.skills.commands };
}

/** An unknown task has ended already, which is no error. */
async function stopTask(session: Session, { task_id }: Frame): Promise<undefined> {
  await session.tasks.stop(String(task_id), 'user');
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The response is sent before the session ends. */
function endSession(session: Session): undefined {
  session.end();
}

/** Warnings about options of `initialize` and of its agents that have no effect here. */
export function unsupportedOptions(body: Frame): string[] {
  const agents = Object.entries(isRecord(body.agents) ? body.agents : {});
  return [
    ...setOptions(body, UNSUPPORTED).map((name) => `options.${name} has no effect with this agent`),
    ...agents.flatMap(([agent, definition]) => {
      const given = isRecord(definition) ? definition : {};
      const unsupported = setOptions(given, UNSUPPORTED_MEMBERS);
      if (typeof given.effort === 'number') unsupported.push('effort');
      return unsupported.map((name) => `options.agents["${agent}"].${name} has no effect with this agent`);
    }),
  ];
}

const UNSUPPORTED: readonly string[] = [
  'agentProgressSummaries',
  'perTaskStopAffordance',
  'plugins',
  'promptSuggestions',
  'supportedDialogKinds',
  'systemPromptSnapshot',
  'toolAliases',
];

/** The options that are set; false, null and an empty list count as not set. */
function setOptions(from: Readonly<Record<string, unknown>>, names: readonly string[]): string[] {
  return names.filter((name) => {
    const value = from[name];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false && value !== null;
  });
}
