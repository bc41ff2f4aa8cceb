import { nearest } from '../../base/text/nearest.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { AgentClient } from '../../sdk/agent-client.ts';
import type { McpServerStatus } from '../../sdk/query-methods.ts';
import { line, type Piece, type Tone } from '../terminal/render.ts';

type Client = Pick<AgentClient, 'mcpServerStatus' | 'reconnectMcpServer' | 'toggleMcpServer'>;

/** What `/mcp` can do to a server, and how each is confirmed. */
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

/** `/mcp`: the servers, or one action on a server. Every input is answered: done, or why not and what to type. */
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
    return [line(`No server has to be reconnected. Usage: /mcp reconnect <server>. ${namesOf(servers)}`)];
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
  return [line([`No server is called ${name}.${hint} ${namesOf(servers)}`, 'warn'])];
}

function namesOf(servers: readonly McpServerStatus[]): string {
  return servers.length === 0
    ? 'There are no servers.'
    : `Servers: ${servers.map(({ name }) => name).join(', ')}`;
}

const TONES: Readonly<Record<string, Tone>> = {
  connected: 'good',
  failed: 'bad',
  'needs-auth': 'warn',
  pending: 'dim',
  disabled: 'dim',
};

/** Of those that are configured and may not be started, in the words of `toolplane mcp list`. */
const NOT_STARTED: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
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
  const aside =
    status === 'disabled' && Object.hasOwn(NOT_STARTED, configured) ? NOT_STARTED[configured] : undefined;
  if (aside) return aside;
  // A server that nobody asked for yet is not late.
  const waits = status === 'pending' && config?.start === 'on-demand';
  return [waits ? 'waits (connect_mcp connects it)' : status, TONES[status] ?? 'plain'];
}
