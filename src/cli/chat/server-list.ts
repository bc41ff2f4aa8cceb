import type { McpServerStatus } from '../../sdk/query-methods.ts';
import { line, type Piece, type Tone } from './piece.ts';

const TONES: Readonly<Record<string, Tone>> = {
  connected: 'good',
  failed: 'bad',
  'needs-auth': 'warn',
  pending: 'dim',
  disabled: 'dim',
};

/** Of those that are configured and may not be started, in the words of `toolplane mcp list`. */
const ASIDE: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  pending: ['pending approval', 'warn'],
  rejected: ['rejected', 'dim'],
  blocked: ['blocked', 'bad'],
  disabled: ['disabled', 'dim'],
  broken: ['broken', 'bad'],
};

/** `/mcp`: every server, how it is, and what is wrong with it. */
export function serverList(servers: readonly McpServerStatus[]): Piece[] {
  if (servers.length === 0) {
    return [
      line('There are no servers. Add one with toolplane mcp add, or name some with --mcp-config <file>.'),
    ];
  }
  const widest = Math.max(...servers.map(({ name }) => name.length));
  return servers.flatMap((server) => {
    const { name, tools, serverInfo, error } = server;
    const [state, tone] = stateOf(server);
    const count = tools ? `  ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}` : '';
    const version = serverInfo ? `  ${serverInfo.name} ${serverInfo.version}` : '';
    return [
      line('  ', [name.padEnd(widest), 'strong'], '  ', [state, tone], count, [version, 'dim']),
      ...(error ? [line([`    ${error}`, server.configured === undefined ? 'bad' : tone])] : []),
    ];
  });
}

function stateOf({ status, config, configured = '' }: McpServerStatus): readonly [string, Tone] {
  const aside = status === 'disabled' && Object.hasOwn(ASIDE, configured) ? ASIDE[configured] : undefined;
  if (aside) return aside;
  // A server that nobody asked for yet is not late.
  const waits = status === 'pending' && config?.start === 'on-demand';
  return [waits ? 'waits (connect_mcp connects it)' : status, TONES[status] ?? 'plain'];
}
