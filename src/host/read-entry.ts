import { isRecord } from '../base/is-record.ts';
import { checkExternalEntry, type ToolPolicy } from '../protocol/server-entry.ts';
import type { SdkServerEntry, ServerEntry, ServerManifest } from './connect/world.ts';

/** Reads one entry that came from outside; throws what is wrong with it. */
export function readEntry(key: string, value: unknown): ServerEntry {
  return isRecord(value) && value.type === 'sdk' ? sdkEntry(key, value) : checkExternalEntry(key, value);
}

/** A server in the program. Its limits are obeyed, and its handshake is believed if it is one. */
export function sdkEntry(key: string, config: unknown, manifest?: unknown): SdkServerEntry {
  const { timeout, tools }: Record<string, unknown> = isRecord(config) ? config : {};
  const read = readManifest(manifest);
  return {
    type: 'sdk',
    name: key,
    ...(typeof timeout === 'number' && timeout > 0 && { timeout }),
    ...(Array.isArray(tools) && { tools: tools as ToolPolicy[] }),
    ...(read && { manifest: read }),
  };
}

/** Undefined for what would not pass for a handshake: the server is asked itself then. */
function readManifest(value: unknown): ServerManifest | undefined {
  if (!isRecord(value) || !isRecord(value.initializeResult)) return undefined;
  const { initializeResult, toolsListResult } = value;
  const { protocolVersion, capabilities, serverInfo } = initializeResult;
  if (typeof protocolVersion !== 'string' || !isRecord(capabilities) || !isRecord(serverInfo))
    return undefined;
  return { initializeResult, ...(isRecord(toolsListResult) && { toolsListResult }) };
}
