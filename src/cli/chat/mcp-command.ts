import { nearest } from '../../base/text/nearest.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { AgentClient } from '../../sdk/agent-client.ts';
import type { McpServerStatus } from '../../sdk/control-responses.ts';
import { line, type Piece, type Tone } from '../terminal/render.ts';

type Client = Pick<AgentClient, 'mcpServerStatus' | 'reconnectMcpServer' | 'toggleMcpServer'>;

/** The actions of `/mcp`, and their confirmations. */
const ACTIONS: Readonly<
  Record<string, { readonly done: string; run(client: Client, server: string): Promise<void> }>
> = {
  reconnect: { done: 'reconnected', run: (client, server) => client.reconnectMcpServer(server) },
  enable: { done: 'enabled', run: (client, server) => client.toggleMcpServer(server, true) },
  disable: {
    done: 'disabled for this session',
    run: (client, server) => client.toggleMcpServer(server, false),
  },
};

export const MCP_USAGE = '[reconnect [server] | enable <server> | disable <server>]';

/** `/mcp`: lists the servers, or runs one action on a server. */
export async function mcpCommand(client: Client, argument: string): Promise<readonly Piece[]> {
  const [, word = '', name = ''] = /^(\S*)\s*([\s\S]*)$/.exec(argument.trim()) ?? [];
  const servers = await client.mcpServerStatus();
  if (word === '') return serverList(servers);
  const verb = word.toLowerCase();
  const action = Object.hasOwn(ACTIONS, verb) ? ACTIONS[verb] : undefined;
  if (!action) return unknownAction(word, servers);
  if (name === '') return verb === 'reconnect' ? reconnectAll(client, servers) : missingServer(verb, servers);
  const server = servers.find((it) => it.name === name);
  if (!server) return unknownServer(name, servers);
  await action.run(client, server.name);
  return [line([`Server ${server.name} ${action.done}.`, 'good']), ...(await listed(client))];
}

/** Reconnects every server that may run and is not connected. */
async function reconnectAll(client: Client, servers: readonly McpServerStatus[]): Promise<readonly Piece[]> {
  const lost = servers.filter(({ status }) => status !== 'connected' && status !== 'disabled');
  if (lost.length === 0) {
    return [line(`No server needs to be reconnected. Usage: /mcp reconnect <server>. ${namesOf(servers)}`)];
  }
  const outcomes = await Promise.allSettled(lost.map(({ name }) => client.reconnectMcpServer(name)));
  const pieces = outcomes.map((outcome, index) => {
    const name = lost[index]?.name;
    return outcome.status === 'fulfilled'
      ? line([`Server ${name} reconnected.`, 'good'])
      : line([`Server ${name} not reconnected: ${messageOf(outcome.reason)}`, 'bad']);
  });
  return [...pieces, ...(await listed(client))];
}

async function listed(client: Client): Promise<readonly Piece[]> {
  return serverList(await client.mcpServerStatus());
}

function unknownAction(word: string, servers: readonly McpServerStatus[]): Piece[] {
  const guess = nearest(word, Object.keys(ACTIONS));
  const hint = guess ? ` Did you mean /mcp ${guess}?` : '';
  return [line([`Unknown action ${word}.${hint} Usage: /mcp ${MCP_USAGE}. ${namesOf(servers)}`, 'warn'])];
}

function missingServer(verb: string, servers: readonly McpServerStatus[]): Piece[] {
  return [line([`/mcp ${verb} needs a server: /mcp ${verb} <server>. ${namesOf(servers)}`, 'warn'])];
}

function unknownServer(name: string, servers: readonly McpServerStatus[]): Piece[] {
  const guess = nearest(
    name,
    servers.map((server) => server.name),
  );
  const hint = guess ? ` Did you mean ${guess}?` : '';
  return [line([`Unknown server ${name}.${hint} ${namesOf(servers)}`, 'warn'])];
}

function namesOf(servers: readonly McpServerStatus[]): string {
  return servers.length === 0 ? 'No servers.' : `Servers: ${servers.map(({ name }) => name).join(', ')}`;
}

const TONES: Readonly<Record<string, Tone>> = {
  connected: 'good',
  failed: 'bad',
  'needs-auth': 'warn',
  pending: 'dim',
  disabled: 'dim',
};

/** States of servers that may not be started, as `toolplane mcp list` names them. */
const NOT_STARTED: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  pending: ['pending approval', 'warn'],
  rejected: ['rejected', 'dim'],
  blocked: ['blocked', 'bad'],
  disabled: ['disabled', 'dim'],
  broken: ['broken', 'bad'],
};

/** `/mcp`: every server with its status and error. */
export function serverList(servers: readonly McpServerStatus[]): Piece[] {
  if (servers.length === 0) {
    return [line('No servers. Add one with toolplane mcp add, or use --mcp-config <file>.')];
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
  const inactive =
    status === 'disabled' && Object.hasOwn(NOT_STARTED, configured) ? NOT_STARTED[configured] : undefined;
  if (inactive) return inactive;
  // An on-demand server is not late.
  const waits = status === 'pending' && config && 'start' in config && config.start === 'on-demand';
  return [waits ? 'idle (the model connects it with connect_mcp)' : status, TONES[status] ?? 'plain'];
}
