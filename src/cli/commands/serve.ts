import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { type Command, InvalidArgumentError } from 'commander';
import { isRecord } from '../../base/json-value.ts';
import { isLoopback } from '../../mcp/transports/http/proxy.ts';
import { messageOf, SdkError } from '../../protocol/sdk-error.ts';
import { isForeignServer } from '../../tool-server/foreign-server.ts';
import {
  openSession,
  type SdkServerEntry,
  servedServer,
  toolServerOf,
} from '../../tool-server/sdk-server.ts';
import type { ListenOptions } from '../../tool-server/serving/listen.ts';
import { secureUrl } from '../../tool-server/serving/resource-server.ts';
import { serveStdio } from '../../tool-server/serving/serve.ts';
import type { ServedServer } from '../../tool-server/serving/stateless-endpoint.ts';
import type { ToolServer } from '../../tool-server/tool-server.ts';
import { usageError } from '../flags/flag-values.ts';
import { claimStdout, flushed } from '../output/output.ts';
import { sanitize } from '../terminal/terminal-text.ts';

/** `toolplane serve <module>`: serves the tool server of a module over stdio or HTTP (R42). */
export function defineServe(command: Command): void {
  command
    .argument('<module>', 'path of the module')
    .option('--export <name>', 'the export to serve; default: the first tool server')
    .option(
      '--http [host:port]',
      'serve over streamable HTTP; default: a free port of 127.0.0.1',
      parseAddress,
    )
    .option('--allow-host <name...>', 'with --http: further host names that requests may address')
    .option('--auth-issuer <url>', 'with --http: require access tokens of this OAuth issuer')
    .option('--auth-audience <url>', 'the "aud" of the tokens; default: the URL of the server')
    .option(
      '--auth-scope <[tool=]scope...>',
      'scopes that the tokens need, for all requests or for the calls of a tool',
    )
    .addHelpText(
      'after',
      `
The module exports the result of createSdkMcpServer() or toolServer(), or an McpServer of the MCP SDK:

  export default toolServer('calc').tool('add', 'Add two numbers', { a: z.number(), b: z.number() }, …);

Messages are one JSON-RPC object per line on stdin and stdout; other output of the module goes to stderr.
With --http, the URL is printed on stderr, and the command runs until it is interrupted.

  toolplane serve notes.ts --http 8080 --auth-issuer https://login.example.com \\
    --auth-audience https://notes.example.com/mcp --auth-scope notes delete_note=notes:delete`,
    )
    .action(async (path: string, options: ServeOptions) => {
      const refuse: Refuse = (fault) => usageError(command, fault);
      const address = options.http === true ? {} : options.http;
      const output = claimStdout();
      checkAuthFlags(options, refuse);
      const { name, entry } = findServer(await load(path), path, options.export);
      if (address) {
        const auth = readAuth(options, toolServerOf(entry), refuse);
        const allowedHosts = options.allowHost ?? [];
        await serveHttp(servedServer(entry, name), { ...address, allowedHosts, ...(auth && { auth }) });
        return;
      }
      await serveStdio((port) => openSession(entry, port), name, {
        input: process.stdin,
        output,
        onLog: (level, data) =>
          console.error(sanitize(`[${level}] ${typeof data === 'string' ? data : inspect(data)}`)),
      });
      await flushed(output);
    });
}

type Address = { host?: string; port?: number };
type ServeOptions = {
  export?: string;
  http?: Address | true;
  allowHost?: string[];
  authIssuer?: string;
  authAudience?: string;
  authScope?: string[];
};

/** Ends the command with a usage error. */
type Refuse = (fault: string) => never;

function checkAuthFlags({ http, authIssuer, authAudience, authScope }: ServeOptions, refuse: Refuse): void {
  const isGiven = authAudience !== undefined || authScope !== undefined;
  if (authIssuer === undefined && isGiven) {
    refuse('--auth-audience and --auth-scope require --auth-issuer');
  }
  if (authIssuer !== undefined && http === undefined) refuse('--auth-issuer requires --http');
  if (authIssuer !== undefined && !secureUrl.holds(authIssuer)) {
    refuse(`--auth-issuer ${authIssuer}: the issuer must be ${secureUrl.what}`);
  }
  if (authAudience === '') refuse('--auth-audience must not be empty');
  for (const given of authScope ?? []) {
    const [, first, scope = first] = /^([^=]*)(?:=(.*))?$/s.exec(given) ?? [];
    const missing = scope === '' ? 'the scope' : first === '' ? 'the name of the tool' : undefined;
    if (missing) refuse(`--auth-scope ${given}: ${missing} is missing; use SCOPE or TOOL=SCOPE`);
  }
}

/** A scope of a tool that the server does not have is refused: a misspelled name would leave the tool unprotected. */
function readAuth(
  options: ServeOptions,
  server: ToolServer | undefined,
  refuse: Refuse,
): ListenOptions['auth'] {
  const { authIssuer: issuer, authAudience: audience, authScope = [] } = options;
  if (issuer === undefined) return undefined;
  const scopes: string[] = [];
  const toolScopes: Record<string, string[]> = {};
  for (const given of authScope) {
    const end = given.indexOf('=');
    if (end < 0) scopes.push(given);
    else {
      const tool = given.slice(0, end);
      if (server && !server.find(tool)) {
        const known = server.tools.map(({ name }) => name).join(', ');
        refuse(`--auth-scope ${given}: the server has no tool "${tool}" (tools: ${known})`);
      }
      toolScopes[tool] = [...(toolScopes[tool] ?? []), given.slice(end + 1)];
    }
  }
  const onKeyFailure = ({ message }: Error) =>
    console.error(
      sanitize(`toolplane: warning: ${message}; requests get status 503 until the keys can be loaded`),
    );
  return { issuer, ...(audience !== undefined && { audience }), scopes, toolScopes, onKeyFailure };
}

const HOST_AND_PORT = /^(\[[\da-f:.]+\]|[^:/\s]+)(?::(\d+))?$/i;

/** Reads `8080`, `:8080`, `host`, `host:8080` and `[::1]:8080`. */
function parseAddress(text: string): Address {
  const isPort = /^:?\d+$/.test(text);
  const [, host = '', port] = isPort ? ['', '', text.replace(':', '')] : (HOST_AND_PORT.exec(text) ?? []);
  if ((host === '' && port === undefined) || Number(port ?? 0) > 65_535) {
    throw new InvalidArgumentError('Use host:port or a port.');
  }
  return {
    ...(host !== '' && { host: host.replace(/^\[|\]$/g, '') }),
    ...(port !== undefined && { port: Number(port) }),
  };
}

/** Serves until SIGINT or SIGTERM. */
async function serveHttp(server: ServedServer, options: ListenOptions): Promise<void> {
  const { listenHttp } = await import('../../tool-server/serving/listen.ts');
  const ended = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.resolve());
  await using http = await listenHttp(server, options);
  console.error(sanitize(`toolplane: serving ${server.name} at ${http.url}`));
  if (options.host !== undefined && !isLoopback(options.host)) {
    if (!options.auth) {
      const advice = 'use --auth-issuer to require access tokens';
      console.error(
        `toolplane: warning: every program that reaches this address can call the tools; ${advice}`,
      );
    } else if (options.auth.audience === undefined) {
      console.error(
        `toolplane: warning: tokens must be issued for ${http.url}; set --auth-audience to the public URL if it differs`,
      );
    }
  }
  await ended.promise;
}

type Served = { name: string; entry: Pick<SdkServerEntry, 'instance'> };

async function load(path: string): Promise<Record<string, unknown>> {
  const url = path.startsWith('file:') ? path : pathToFileURL(resolve(path)).href;
  try {
    return (await import(url)) as Record<string, unknown>;
  } catch (cause) {
    throw new SdkError('serve-failed', `cannot load ${path}: ${messageOf(cause)}`, { cause });
  }
}

function findServer(module: Record<string, unknown>, path: string, wanted: string | undefined): Served {
  const names = wanted === undefined ? ['default', ...Object.keys(module)] : [wanted];
  for (const name of names) {
    const served = asServer(module[name], name);
    if (served) return served;
  }
  const which = wanted === undefined ? 'exports no tool server' : `has no tool server named "${wanted}"`;
  const known = Object.keys(module).join(', ') || 'nothing';
  throw new SdkError(
    'serve-failed',
    `${path} ${which} (exports: ${known}); export the result of createSdkMcpServer()`,
  );
}

function asServer(value: unknown, name: string): Served | undefined {
  if (isRecord(value) && value.type === 'sdk' && 'instance' in value) {
    return { name: String(value.name), entry: value as Served['entry'] };
  }
  return isForeignServer(value) ? { name, entry: { instance: value } } : undefined;
}
