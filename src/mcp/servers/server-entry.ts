import { isRecord } from '../../base/json-value.ts';
import { checkWritten, findEntryError, type ToolPolicy } from '../../protocol/server-entry.ts';
import type { SdkServerEntry, ServerEntry, ServerManifest } from '../connection/connect-context.ts';
import { toolFilterError } from '../discovery/tool-filter.ts';
import { HostError } from '../errors/host-error.ts';

/** Parses an entry received over the control channel; throws if it is invalid. */
export function readEntry(key: string, value: unknown): ServerEntry {
  return isRecord(value) && value.type === 'sdk' ? sdkEntry(key, value) : checkWritten(key, value);
}

/** The entry of a server in the program; an invalid handshake manifest is ignored. */
export function sdkEntry(key: string, config: unknown, manifest?: unknown): SdkServerEntry {
  const { timeout, tools, includeTools, excludeTools }: Record<string, unknown> = isRecord(config)
    ? config
    : {};
  const read = readManifest(manifest);
  return {
    type: 'sdk',
    name: key,
    ...(typeof timeout === 'number' && timeout > 0 && { timeout }),
    ...(Array.isArray(tools) && { tools: tools as ToolPolicy[] }),
    ...(includeTools !== undefined && { includeTools: includeTools as string[] }),
    ...(excludeTools !== undefined && { excludeTools: excludeTools as string[] }),
    ...(read && { manifest: read }),
  };
}

/** An entry of a program in this process, which may contain a server object. It is validated when it is connected, so that an invalid
 * entry fails alone. */
export function programEntry(key: string, value: unknown): ServerEntry {
  if (!isRecord(value)) return {} as ServerEntry;
  if (value.type !== 'sdk') return value as unknown as ServerEntry;
  // Only these members are taken: a server object may have members of its own with the names of entry members.
  const members = Object.entries(value).filter(([name]) => OWN_MEMBERS.has(name));
  const { timeout, instance } = value;
  return {
    ...Object.fromEntries(members),
    type: 'sdk',
    name: key,
    ...(typeof timeout === 'number' && timeout > 0 && { timeout }),
    // Connecting reports a missing instance.
    instance: instance ?? null,
  };
}

const OWN_MEMBERS: ReadonlySet<string> = new Set([
  'assigns',
  'start',
  'required',
  'connectTimeoutMs',
  'idleTimeoutMs',
  'toolTimeoutsMs',
  'includeTools',
  'excludeTools',
]);

/** Validates an entry that nothing has validated yet; throws a `bad-config` error, so that only this server fails. */
export function validateEntry(key: string, entry: ServerEntry): ServerEntry {
  const isSdk = isRecord(entry) && entry.type === 'sdk';
  const detail = isSdk ? toolFilterError(entry) : findEntryError(entry)?.message;
  if (detail === undefined) return entry;
  throw new HostError('bad-config', key, detail, { hasRun: 'no' });
}

/** The entry for reconnects: the program's handshake manifest is valid only for the first connection. */
export function withoutManifest(entry: ServerEntry): ServerEntry {
  if (!isRecord(entry) || entry.type !== 'sdk') return entry;
  const { manifest: _, ...rest } = entry;
  return rest;
}

/** Undefined if the value is not a complete handshake; the server is then asked itself. */
function readManifest(value: unknown): ServerManifest | undefined {
  if (!isRecord(value) || !isRecord(value.initializeResult)) return undefined;
  const { initializeResult, toolsListResult } = value;
  const { protocolVersion, capabilities, serverInfo } = initializeResult;
  if (typeof protocolVersion !== 'string' || !isRecord(capabilities) || !isRecord(serverInfo))
    return undefined;
  return { initializeResult, ...(isRecord(toolsListResult) && { toolsListResult }) };
}
