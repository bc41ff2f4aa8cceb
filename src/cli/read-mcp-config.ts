import { faultText } from '../config/files/diagnostics.ts';
import { readFlagNow } from '../config/sources/read-flags.ts';
import { contentFaults, readServers } from '../config/sources/read-servers.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import type { Options } from '../sdk/options/options.ts';
import { neutralise } from './chat/neutralise.ts';

type Servers = NonNullable<Options['mcpServers']>;

/**
 * The servers of all `--mcp-config`: paths of files, or JSON texts. Of two with one name the later wins. An entry that
 * cannot be used is told and left out; of what cannot be read at all nothing is taken.
 */
export function readMcpConfigs(
  given: readonly string[],
  tell: (line: string) => void = tellOnStderr,
): Servers {
  const servers = given.flatMap((it) => readMcpConfig(it, tell));
  return Object.fromEntries(servers) as Servers;
}

function readMcpConfig(given: string, tell: (line: string) => void): (readonly [string, object])[] {
  const { label, content } = readFlagNow('--mcp-config', given, process.cwd());
  const place = { scope: 'program', label } as const;
  const { state, servers, faults } = readServers(content, { ...place, kind: 'given' });
  if (state !== 'read') throw new SdkError('bad-server', faults.map(faultText).join('; '));
  // What is odd about an entry that is taken, whoever takes it says.
  const lost = faults.filter(({ level }) => level === 'error');
  for (const fault of [...contentFaults(content, place), ...lost]) tell(faultText(fault));
  return servers.flatMap(({ name, entry }) => (entry ? [[name, entry] as const] : []));
}

function tellOnStderr(line: string): void {
  process.stderr.write(`toolplane: ${neutralise(line)}\n`);
}
