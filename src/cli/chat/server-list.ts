import type { McpServerStatus } from '../../sdk/query-methods.ts';
import { line, type Piece, type Tone } from './piece.ts';

const TONES: Readonly<Record<string, Tone>> = {
  connected: 'good',
  failed: 'bad',
  'needs-auth': 'warn',
  pending: 'dim',
  disabled: 'dim',
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
    const { name, status, tools, serverInfo, error } = server;
    const count = tools ? `  ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}` : '';
    const version = serverInfo ? `  ${serverInfo.name} ${serverInfo.version}` : '';
    return [
      line(
        '  ',
        [name.padEnd(widest), 'strong'],
        '  ',
        [stateText(server), TONES[status] ?? 'plain'],
        count,
        [version, 'dim'],
      ),
      ...(error ? [line([`    ${error}`, 'bad'])] : []),
    ];
  });
}

/** A server that nobody asked for yet is not late. */
function stateText({ status, config }: McpServerStatus): string {
  return status === 'pending' && config?.start === 'on-demand' ? 'waits (connect_mcp connects it)' : status;
}
