import { isRecord } from '../base/is-record.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import type { Options } from '../sdk/options.ts';
import { readJsonFlag } from './json-flag.ts';

/** The servers of all `--mcp-config`: paths of files, or JSON texts. Of two with one name the later wins. */
export function readMcpConfigs(given: readonly string[]): NonNullable<Options['mcpServers']> {
  return Object.assign({}, ...given.map(readMcpConfig)) as NonNullable<Options['mcpServers']>;
}

function readMcpConfig(given: string): Record<string, unknown> {
  const { value, where } = readJsonFlag('--mcp-config', given, 'bad-server');
  const servers = isRecord(value) ? value.mcpServers : undefined;
  if (isRecord(servers)) return servers;
  throw new SdkError('bad-server', `${where}: there is no "mcpServers" object in it`);
}
