import { nearest } from '../../base/text/nearest.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { AgentClient } from '../../sdk/agent-client.ts';
import type { McpServerStatus } from '../../sdk/control-responses.ts';
import { openBrowser } from '../mcp/ask-sign-in.ts';
import { line, type Piece, type Tone } from '../terminal/render.ts';

type Client = Pick<
  AgentClient,
  | 'mcpAuthenticate'
  | 'mcpClearAuth'
  | 'mcpServerStatus'
  | 'mcpSubmitOAuthCallbackUrl'
  | 'reconnectMcpServer'
  | 'toggleMcpServer'
>;

/** Opens an address in a browser; false if there is none. */
type Open = (url: URL) => boolean;

/** Opens an address in the browser of the user. */
export const openInBrowser: Open = (url) =>
  openBrowser(url, { env: process.env, platform: process.platform });

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
  logout: { done: 'signed out', run: (client, server) => client.mcpClearAuth(server) },
};

export const MCP_USAGE =
  '[add <name> <url|command> | reconnect [server] | <enable|disable|login|logout> <server>]';

/** `/mcp`: lists the servers, or runs one action on a server. */
export async function mcpCommand(
  client: Client,
  argument: string,
  { open = openInBrowser, env = {} }: { readonly open?: Open; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<readonly Piece[]> {
  const [, word = '', name = ''] = /^(\S*)\s*([\s\S]*)$/.exec(argument.trim()) ?? [];
  if (word.toLowerCase() === 'add') {
    // The module that writes configuration files is loaded only when it is used.
    const { addServer } = await import('./actions/add-server.ts');
    return [...(await addServer(name, env, client)), ...(name === '' ? [] : await listed(client))];
  }
  const servers = await client.mcpServerStatus();
  if (word === '') return serverList(servers);
  const verb = word.toLowerCase();
  if (verb === 'login') return login(client, servers, name, open);
  const action = Object.hasOwn(ACTIONS, verb) ? ACTIONS[verb] : undefined;
  if (!action) return unknownAction(word, servers);
  if (name === '') return verb === 'reconnect' ? reconnectAll(client, servers) : missingServer(verb, servers);
  const server = servers.find((it) => it.name === name);
  if (!server) return unknownServer(name, servers);
  await action.run(client, server.name);
  return [line([`Server ${server.name} ${action.done}.`, 'good']), ...(await listed(client))];
}

/** `/mcp login <server>` starts a sign-in, and `/mcp login <server> <address>` completes it with the redirect. */
async function login(
  client: Client,
  servers: readonly McpServerStatus[],
  given: string,
  open: Open,
): Promise<readonly Piece[]> {
  const [, name = '', redirect] = /^(.*?)(?:\s+(https?:\/\/\S+))?$/s.exec(given.trim()) ?? [];
  if (name === '') return missingServer('login', servers);
  const server = servers.find((it) => it.name === name);
  if (!server) return unknownServer(name, servers);
  const done = async () => [line([`Signed in to ${name}.`, 'good']), ...(await listed(client))];
  if (redirect !== undefined) {
    await client.mcpSubmitOAuthCallbackUrl(name, redirect);
    return done();
  }
  const { authUrl } = await client.mcpAuthenticate(name);
  if (authUrl === undefined) return done();
  const how = open(new URL(authUrl))
    ? `Sign in to ${name} in the browser. If it does not open, use this address:`
    : `To sign in to ${name}, open this address in a browser:`;
  const after = `The server is connected after the sign-in; /mcp shows its state. If the browser runs on another machine, copy the address of the page that it cannot open and enter: /mcp login ${name} <address>`;
  return [line(how), line(''), line(`  ${authUrl}`), line(''), line([after, 'dim'])];
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
  const guess = nearest(word, [...Object.keys(ACTIONS), 'add', 'login']);
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
    return [line('No servers. Add one with /mcp add <name> <url or command>, or use --mcp-config <file>.')];
  }
  const widest = Math.max(...servers.map(({ name }) => name.length));
  return servers.flatMap((server) => {
    const { name, tools, serverInfo, error } = server;
    const [state, tone] = stateOf(server);
    const count = tools ? `  ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}` : '';
    const version = serverInfo ? `  ${serverInfo.name} ${serverInfo.version}` : '';
    return [
      line('  ', [name.padEnd(widest), 'strong'], '  ', [state, tone], count, [version, 'dim']),
      ...(server.status === 'needs-auth' ? [line([`    sign in with /mcp login ${name}`, 'warn'])] : []),
      ...(error ? [line([`    ${error}`, server.configured === undefined ? 'bad' : tone])] : []),
    ];
  });
}

function stateOf({ status, config, configured = '' }: McpServerStatus): readonly [string, Tone] {
  const inactive =
    status === 'disabled' && Object.hasOwn(NOT_STARTED, configured) ? NOT_STARTED[configured] : undefined;
  if (inactive) return inactive;
  // An on-demand server is not connecting: the model connects it.
  const waits = status === 'pending' && config && 'start' in config && config.start === 'on-demand';
  return [waits ? 'idle (the model connects it with connect_mcp)' : status, TONES[status] ?? 'plain'];
}
