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
    return [line('There are no servers. Name some with --mcp-config <file>.')];
  }
  const widest = Math.max(...servers.map(({ name }) => name.length));
  return servers.flatMap(({ name, status, tools, serverInfo, error }) => {
    const count = tools ? `  ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}` : '';
    const version = serverInfo ? `  ${serverInfo.name} ${serverInfo.version}` : '';
    return [
      line('  ', [name.padEnd(widest), 'strong'], '  ', [status, TONES[status] ?? 'plain'], count, [
        version,
        'dim',
      ]),
      ...(error ? [line([`    ${error}`, 'bad'])] : []),
    ];
  });
}
