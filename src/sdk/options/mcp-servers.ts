import { isRecord } from '../../base/json-value.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { checkWritten, type ExternalServerEntry } from '../../protocol/server-entry.ts';

import { normalizeName } from '../../protocol/tool-name.ts';
import { type SdkServerEntry, toolServerOf } from '../../tool-server/sdk-server.ts';
import type { McpServerConfig } from './options.ts';

/** The servers of a query, split by whether this process or the agent runs them (R36–R41). */
export type SplitServers = {
  readonly sdk: ReadonlyMap<string, SdkServerEntry>;
  readonly external: Readonly<Record<string, ExternalServerEntry>>;
};

/** Validates all entries and splits them. The agent knows a server by its key, not by its own name (C24). */
export function splitServers(servers: Readonly<Record<string, McpServerConfig>> = {}): SplitServers {
  const sdk = new Map<string, SdkServerEntry>();
  const external: Record<string, ExternalServerEntry> = {};
  const wireNames = new Map<string, string>();
  for (const [key, entry] of Object.entries(servers)) {
    if (key === '' || key === '__proto__') {
      throw new SdkError(
        'bad-server',
        `mcpServers has an entry named ${JSON.stringify(key)}, which is not allowed: rename it`,
      );
    }
    const taken = wireNames.get(normalizeName(key));
    if (taken !== undefined) {
      throw new SdkError(
        'bad-server',
        `mcpServers: "${taken}" and "${key}" both normalize to "${normalizeName(key)}" in tool names: rename one`,
        { server: key },
      );
    }
    wireNames.set(normalizeName(key), key);
    if (isRecord(entry) && entry.type === 'sdk') sdk.set(key, checkSdkEntry(key, entry));
    else external[key] = checkWritten(key, entry);
  }
  return { sdk, external };
}

/** The value of `--mcp-config`: external entries as given; in-process ones only on request, and never their instance (R28–R35, C28). */
export function prepareServersForCli(
  servers: SplitServers,
  options: { sdkServersOnArgv: boolean },
): Record<string, object> | undefined {
  const prepared: Record<string, object> = { ...servers.external };
  if (options.sdkServersOnArgv) {
    for (const [key, entry] of servers.sdk) prepared[key] = describeSdkServer(key, entry);
  }
  return Object.keys(prepared).length > 0 ? prepared : undefined;
}

/** The same for `mcp_set_servers`: process servers first, then in-process ones by name. */
export function describeServers(servers: SplitServers): Record<string, object> {
  const described: Record<string, object> = { ...servers.external };
  for (const [key, entry] of servers.sdk) {
    described[key] = { type: 'sdk', name: key, ...sdkServerSettings(entry) };
  }
  return described;
}

/** The host-side settings of an in-process server that the agent enforces. */
export function sdkServerSettings(entry: SdkServerEntry): { timeout?: number; tools?: object[] } {
  const policy = entry instanceof Object && Object.hasOwn(entry, 'tools') ? entry.tools : undefined;
  return {
    ...(entry.timeout !== undefined && { timeout: entry.timeout }),
    ...(policy && { tools: [...policy] }),
  };
}

function describeSdkServer(key: string, entry: SdkServerEntry): object {
  const version = toolServerOf(entry)?.version ?? '1.0.0';
  return { type: 'sdk', name: key, version };
}

function checkSdkEntry(key: string, entry: Record<string, unknown>): SdkServerEntry {
  if (toolServerOf(entry)) return entry as SdkServerEntry;
  const { instance } = entry;
  const isServer =
    typeof instance === 'function' ||
    (typeof instance === 'object' && instance !== null && 'connect' in instance);
  if (!isServer) {
    throw new SdkError(
      'bad-server',
      `mcpServers["${key}"]: an sdk server needs "instance"; pass what createSdkMcpServer() returns, or an McpServer`,
      { server: key },
    );
  }
  return entry as SdkServerEntry;
}
