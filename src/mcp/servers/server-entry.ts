import { isRecord } from '../../base/json-value.ts';
import { checkWritten, findEntryError, type ToolPolicy } from '../../protocol/server-entry.ts';
import type { SdkServerEntry, ServerEntry, ServerManifest } from '../connection/connect-context.ts';
import { toolFilterError } from '../discovery/tool-filter.ts';
import { HostError } from '../errors/host-error.ts';

/** Reads one entry that came from outside, as it is written; throws what is wrong with it. */
export function readEntry(key: string, value: unknown): ServerEntry {
  return isRecord(value) && value.type === 'sdk' ? sdkEntry(key, value) : checkWritten(key, value);
}

/** A server in the program. Its limits are obeyed, and its handshake is believed if it is one. */
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

/**
 * An entry of this very process: a server may come along as an object. What is wrong with it is found out when it is
 * dialled, so that a bad one is one server that fails.
 */
export function programEntry(key: string, value: unknown): ServerEntry {
  if (!isRecord(value)) return {} as ServerEntry;
  if (value.type !== 'sdk') return value as unknown as ServerEntry;
  // A server object has members of its own by these names; only what was written in an entry counts.
  const members = Object.entries(value).filter(([name]) => OWN_MEMBERS.has(name));
  const { timeout, instance } = value;
  return {
    ...Object.fromEntries(members),
    type: 'sdk',
    name: key,
    ...(typeof timeout === 'number' && timeout > 0 && { timeout }),
    // Without one there is nobody to talk to, and the dial says so.
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

/** What the program said of a server beforehand holds for the first time it is dialled. */
export function withoutManifest(entry: ServerEntry): ServerEntry {
  if (!isRecord(entry) || entry.type !== 'sdk') return entry;
  const { manifest: _, ...rest } = entry;
  return rest;
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
