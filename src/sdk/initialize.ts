import type { Frame } from '../protocol/control-frame.ts';
import type { RegisteredHooks } from './hooks.ts';
import type { Manifest } from './manifest.ts';
import { type SplitServers, sdkServerSettings } from './mcp-servers.ts';
import type { Options } from './options.ts';

/** The `initialize` request for these options. Members stand in the incumbent's order; what is not set is left out. */
export function buildInitialize(
  options: Options,
  hooks: RegisteredHooks['wire'],
  servers: SplitServers,
  manifests: ReadonlyMap<string, Manifest>,
): Frame & { subtype: 'initialize' } {
  const settings = [...servers.sdk]
    .map(([key, entry]) => [key, sdkServerSettings(entry)] as const)
    .filter(([, value]) => Object.keys(value).length > 0);
  const preset = typeof options.systemPrompt === 'object' && 'preset' in options.systemPrompt;
  return defined({
    subtype: 'initialize',
    hooks,
    sdkMcpServers: servers.sdk.size > 0 ? [...servers.sdk.keys()] : undefined,
    sdkMcpServerConfigs: settings.length > 0 ? Object.fromEntries(settings) : undefined,
    sdkMcpServerManifests: manifests.size > 0 ? Object.fromEntries(manifests) : undefined,
    jsonSchema: options.outputFormat?.schema,
    systemPrompt: preset ? undefined : promptBlocks(options.systemPrompt),
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

/** No prompt is an empty one, not the agent's own: that is what the preset is for. */
function promptBlocks(prompt: Options['systemPrompt']): string[] {
  const given = typeof prompt === 'object' && 'prompt' in prompt ? prompt.prompt : prompt;
  if (Array.isArray(given)) return given;
  return [typeof given === 'string' ? given : ''];
}

function presetMember(options: Options, member: 'append' | 'excludeDynamicSections'): unknown {
  const { systemPrompt } = options;
  return typeof systemPrompt === 'object' && 'preset' in systemPrompt ? systemPrompt[member] : undefined;
}

function snapshot({ systemPrompt }: Options): boolean | undefined {
  return typeof systemPrompt === 'object' && 'type' in systemPrompt ? systemPrompt.snapshot : undefined;
}

function defined<T extends Frame>(frame: T): T {
  return Object.fromEntries(Object.entries(frame).filter(([, value]) => value !== undefined)) as T;
}
