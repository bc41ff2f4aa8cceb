import type { Frame } from '../../protocol/control-frame.ts';
import { MCP_VERSIONS } from '../../protocol/mcp.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { type SdkServerEntry, toolServerOf } from '../../tool-server/sdk-server.ts';
import type { McpSession } from '../../tool-server/session.ts';
import type { Bridge } from '../handlers/bridge.ts';
import type { RegisteredHooks } from '../handlers/hooks.ts';
import { outputSchema } from '../options/launch-flags.ts';
import { type SplitServers, sdkServerSettings } from '../options/mcp-servers.ts';
import type { Options } from '../options/options.ts';

/** The `initialize` request for these options, in the official SDK's member order, without undefined members. */
export function buildInitialize(
  options: Options,
  hooks: RegisteredHooks['wire'],
  servers: SplitServers,
  manifests: ReadonlyMap<string, Manifest>,
): Frame & { subtype: 'initialize' } {
  const settings = [...servers.sdk]
    .map(([key, entry]) => [key, sdkServerSettings(entry)] as const)
    .filter(([, value]) => Object.keys(value).length > 0);
  return defined({
    subtype: 'initialize',
    hooks,
    sdkMcpServers: servers.sdk.size > 0 ? [...servers.sdk.keys()] : undefined,
    sdkMcpServerConfigs: settings.length > 0 ? Object.fromEntries(settings) : undefined,
    sdkMcpServerManifests: manifests.size > 0 ? Object.fromEntries(manifests) : undefined,
    jsonSchema: outputSchema(options),
    systemPrompt: promptBlocks(options.systemPrompt),
    appendSystemPrompt: presetMember(options, 'append'),
    planModeInstructions: options.planModeInstructions,
    systemPromptSnapshot: snapshot(options),
    toolAliases: options.toolAliases,
    excludeDynamicSections: presetMember(options, 'excludeDynamicSections'),
    agents: options.agents,
    title: options.title,
    skills: Array.isArray(options.skills) ? options.skills : undefined,
    promptSuggestions: options.promptSuggestions,
    agentProgressSummaries: options.agentProgressSummaries,
    forwardSubagentText: options.forwardSubagentText,
    supportedDialogKinds: options.supportedDialogKinds,
    perTaskStopAffordance: options.perTaskStopAffordance,
    plugins: options.pluginDelivery === 'initialize' && options.plugins?.length ? options.plugins : undefined,
  });
}

/** Without a system prompt an empty one is sent; the preset, or a value of another kind, selects the agent's own. */
function promptBlocks(prompt: Options['systemPrompt']): string[] | undefined {
  if (prompt === undefined) return [''];
  const given = isKind(prompt, 'custom') ? prompt.prompt : prompt;
  if (Array.isArray(given)) return given;
  return typeof given === 'string' ? [given] : undefined;
}

function presetMember({ systemPrompt }: Options, member: 'append' | 'excludeDynamicSections'): unknown {
  return isKind(systemPrompt, 'preset') ? systemPrompt[member] : undefined;
}

function snapshot({ systemPrompt }: Options): boolean | undefined {
  return isKind(systemPrompt, 'custom') || isKind(systemPrompt, 'preset') ? systemPrompt.snapshot : undefined;
}

type PromptObject = Extract<Options['systemPrompt'], { type: string }>;

function isKind<const T extends PromptObject['type']>(
  prompt: Options['systemPrompt'],
  type: T,
): prompt is Extract<PromptObject, { type: T }> {
  return typeof prompt === 'object' && 'type' in prompt && prompt.type === type;
}

function defined<T extends Frame>(frame: T): T {
  return Object.fromEntries(Object.entries(frame).filter(([, value]) => value !== undefined)) as T;
}

const MIN_INITIALIZE_MS = 60_000;

/** At least a minute, for agents with slow start-up hooks. */
export function initializeLimit(override: string | undefined): number {
  const ms = Number(override);
  return Number.isFinite(ms) ? Math.max(ms, MIN_INITIALIZE_MS) : MIN_INITIALIZE_MS;
}

/**
 * Makes the handshakes of in-process servers in parallel; a slow one is left to the agent. Toolplane's host makes those of
 * foreign servers itself, since it has more client capabilities than a handshake made here.
 */
export async function gatherManifests(
  servers: SplitServers,
  bridge: Bridge,
  which: 'all' | 'ours',
): Promise<Map<string, Manifest>> {
  const entries = [...servers.sdk].filter(([, it]) => which === 'all' || toolServerOf(it)?.isAlone);
  const manifests = await Promise.all(
    entries.map(async ([key, entry]) => {
      const session = bridge.session(key);
      return [key, session && (await makeManifest(entry, session))] as const;
    }),
  );
  return new Map(manifests.filter((it): it is readonly [string, Manifest] => it[1] !== undefined));
}

/** Fails if a hook must block on failure and the agent does not support that. */
export function checkSupport({ hooks }: Options, response: Frame): void {
  const mustBlock = Object.values(hooks ?? {}).some((matchers) =>
    matchers.some((it) => it.onFailure === 'block'),
  );
  if (!mustBlock || response.hook_on_failure_supported === true) return;
  throw new SdkError(
    'control-failed',
    'The agent does not support onFailure: "block" of hook matchers, so a failing hook would not block the action: update the agent or remove onFailure',
  );
}

/** A server's handshake, made beforehand: an agent that uses the manifest needs no round trip (C29). */
export type Manifest = { initializeResult: object; toolsListResult?: object };

/** Time limit for the handshake of a foreign server; after it the agent makes the handshake itself. */
const FOREIGN_LIMIT_MS = 250;

/** The manifest of one server. A foreign server receives the requests that the agent would send. */
export async function makeManifest(
  entry: SdkServerEntry,
  session: McpSession,
): Promise<Manifest | undefined> {
  const own = toolServerOf(entry);
  if (own?.isAlone) {
    return { initializeResult: own.initializeResult(), toolsListResult: own.toolsList() };
  }
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), FOREIGN_LIMIT_MS);
  try {
    return await Promise.race([askForeign(session), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function askForeign(session: McpSession): Promise<Manifest | undefined> {
  const initialized = await session.receive({
    jsonrpc: '2.0',
    id: 'manifest-initialize',
    method: 'initialize',
    params: {
      protocolVersion: MCP_VERSIONS[0],
      capabilities: {},
      clientInfo: { name: 'toolplane', version: '1.0.0' },
    },
  });
  if (!initialized || !('result' in initialized)) return undefined;
  await session.receive({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const initializeResult = initialized.result;
  if (!(initializeResult.capabilities as { tools?: unknown }).tools) return { initializeResult };
  const listed = await session.receive({ jsonrpc: '2.0', id: 'manifest-tools', method: 'tools/list' });
  if (!listed || !('result' in listed) || listed.result.nextCursor !== undefined) return { initializeResult };
  return { initializeResult, toolsListResult: listed.result };
}
