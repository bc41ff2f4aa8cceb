import { isRecord } from '../base/is-record.ts';
import { messageOf, SdkError } from '../protocol/sdk-error.ts';
import { checkExternalEntry } from '../protocol/server-entry.ts';
import type { Options } from '../sdk/options.ts';
import { readJsonFlag } from './json-flag.ts';

/** The servers of all `--mcp-config`: paths of files, or JSON texts. Of two with one name the later wins. */
export function readMcpConfigs(given: readonly string[]): NonNullable<Options['mcpServers']> {
  const servers = given.flatMap((it) => Object.entries(readMcpConfig(it)));
  // Not by assigning: a server may have any name, `__proto__` too.
  return Object.fromEntries(servers) as NonNullable<Options['mcpServers']>;
}

function readMcpConfig(given: string): Record<string, unknown> {
  const { value, where } = readJsonFlag('--mcp-config', given, 'bad-server');
  const servers = isRecord(value) ? value.mcpServers : undefined;
  if (!isRecord(servers)) throw new SdkError('bad-server', `${where}: there is no "mcpServers" object in it`);
  for (const [key, entry] of Object.entries(servers)) checkEntry(key, entry, where);
  return servers;
}

function checkEntry(key: string, entry: unknown, where: string): void {
  try {
    checkExternalEntry(key, entry);
  } catch (cause) {
    throw new SdkError('bad-server', `${where}: ${messageOf(cause)}`, { cause, server: key });
  }
}
