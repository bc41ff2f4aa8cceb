import { readFileSync } from 'node:fs';
import { isRecord } from '../base/is-record.ts';
import { messageOf, SdkError } from '../protocol/sdk-error.ts';
import type { Options } from '../sdk/options.ts';

/** The servers of all `--mcp-config`: paths of files, or JSON texts. Of two with one name the later wins. */
export function readMcpConfigs(given: readonly string[]): NonNullable<Options['mcpServers']> {
  return Object.assign({}, ...given.map(readMcpConfig)) as NonNullable<Options['mcpServers']>;
}

function readMcpConfig(given: string): Record<string, unknown> {
  const isText = given.trimStart().startsWith('{');
  const where = isText ? '--mcp-config' : `--mcp-config ${given}`;
  const config = parse(isText ? given : read(given, where), where);
  const servers = isRecord(config) ? config.mcpServers : undefined;
  if (isRecord(servers)) return servers;
  throw new SdkError('bad-server', `${where}: there is no "mcpServers" object in it`);
}

function read(path: string, where: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SdkError('bad-server', `${where} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function parse(text: string, where: string): unknown {
  try {
    // Editors on Windows begin a file with a byte order mark.
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (cause) {
    throw new SdkError('bad-server', `${where} is no JSON: ${messageOf(cause)}`, { cause });
  }
}
