import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import { shellQuote } from '../../base/text/display-text.ts';
import { readConfiguration } from '../../config/configuration.ts';
import { literalSecrets, maskEntry } from '../../config/explain/mask-entry.ts';
import {
  describeIgnored,
  type ServerRecord,
  serverRecord,
  shortStatus,
} from '../../config/explain/server-record.ts';
import { formatKeyPath } from '../../config/files/diagnostics.ts';
import { relativePath } from '../../config/merge/resolve-server.ts';
import type { IgnoreReason, Verdict, WrittenServer } from '../../config/model.ts';
import { openSecretStore } from '../../config/secrets/secret-store.ts';
import { homeLabel } from '../../config/sources/config-paths.ts';
import { validateServerName } from '../../config/sources/validate-entry.ts';
import { pathOfScope, type WritableScope, writeServer } from '../../config/write/write-servers.ts';
import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import { readValue } from '../commands/secret.ts';
import {
  addJsonFlag,
  collect,
  formatOf,
  type McpFormat,
  milliseconds,
  portNumber,
  scopeOption,
} from '../flags/flag-values.ts';
import { CommandFailed, ExitCode, UsageError } from '../output/failure.ts';
import { line } from '../terminal/render.ts';
import { entriesOf, entryText, whereDocument, whereText } from './entries.ts';
import {
  type Given,
  type GivenEntry,
  type GivenOAuth,
  givenEntry,
  looksLikeUrl,
  parseJsonEntry,
  repeatVariables,
  type Transport,
  transportName,
} from './given-entry.ts';
import { inSession, type Session } from './session.ts';

const ADD_HELP = `
A URL uses the http transport, or sse if the server supports only that; a ws:// URL uses ws; -t selects the transport.
Anything else is a command. Write -- before a command with flags, so that they are not parsed as flags of Toolplane.

  toolplane mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  toolplane mcp add github -e GITHUB_TOKEN='\${GITHUB_TOKEN}' -- npx -y @modelcontextprotocol/server-github
  toolplane mcp add docs https://docs.example.com/mcp -H 'Authorization: Bearer \${secret:DOCS_TOKEN}'
  toolplane mcp add -s project -t sse board https://board.example.com/sse
  toolplane mcp add mail https://mail.example.com/mcp --client-id my-app --callback-port 8123

Files:
  -s local     .toolplane/settings.local.json   this project, only for you
  -s project   .mcp.json                        this project, shared
  -s user      ~/.toolplane/settings.json       all your projects

A server of -s user runs in its own directory, ~/.toolplane/servers/<name>, not in the project: use
\${TOOLPLANE_PROJECT_DIR} for your working directory.

--client-id is for servers that require a client that you registered; use http://localhost:PORT/callback, with the port
of --callback-port, as its redirect URI. --client-secret stores the secret and writes a reference to it.

A value that looks like a secret is written with a warning; to a project file only with --force.
Keep secrets out of files: toolplane secret set NAME, and \${secret:NAME} in the entry; or \${VAR} for a variable.

Exit codes:
  0  the entry was written
  1  the name exists, or the file cannot be written
  2  usage error`;

const AFTER_UNKNOWN = '(write -- before the command: toolplane mcp add <name> -- npx -y some-server)';

type Values = {
  json?: true;
  scope: WritableScope;
  transport?: Transport;
  env?: string[];
  header?: string[];
  cwd?: string;
  timeout?: number;
  trust?: true;
  onDemand?: true;
  clientId?: string;
  clientSecret?: true;
  issuer?: string;
  callbackPort?: number;
  xaa?: true;
  force?: true;
};

/** `toolplane mcp add`: adds a server by its command or URL. */
export function defineAdd(command: Command): void {
  const add = addJsonFlag(command);
  add.parseOptions = (args) => Command.prototype.parseOptions.call(add, repeatVariables(args));
  add.error = (message, options) => {
    if (options?.code === 'commander.unknownOption') add.showHelpAfterError(AFTER_UNKNOWN);
    return Command.prototype.error.call(add, message, options);
  };
  add
    .usage(
      '[options] <name> <commandOrUrl> [args...]\n       toolplane mcp add [options] <name> -- <command> [args...]',
    )
    .argument('<name>', 'the name of the server')
    .argument('<commandOrUrl>', 'the command or the URL')
    .argument('[args...]', 'arguments of the command')
    .addOption(scopeOption('local'))
    .addOption(
      new Option('-t, --transport <transport>', 'the transport: stdio, http, sse or ws').argParser(
        transportName,
      ),
    )
    .addOption(
      new Option(
        '-e, --env <KEY=value>',
        'an environment variable; several may follow, or repeat -e',
      ).argParser(collect),
    )
    .addOption(
      new Option('-H, --header <header>', 'an HTTP header, as "Name: value"; may be repeated').argParser(
        collect,
      ),
    )
    .option(
      '--cwd <directory>',
      'working directory of the command; default: your working directory, or ~/.toolplane/servers/<name> with -s user',
    )
    .addOption(new Option('--timeout <ms>', 'timeout of a call').argParser(milliseconds))
    .option('--trust', 'trust the tool annotations of the server; not available with -s project')
    .option('--on-demand', 'start the server when it is first used')
    .option('--client-id <id>', 'id of an OAuth client that is registered with the authorization server')
    .option('--client-secret', 'the client has a secret: asks for it, or reads MCP_CLIENT_SECRET')
    .option('--issuer <url>', 'the only authorization server that may get the client secret')
    .addOption(
      new Option('--callback-port <port>', 'the port of the redirect URI of the client').argParser(
        portNumber,
      ),
    )
    .option('--xaa', 'obtain tokens with the sign-in of toolplane mcp xaa')
    .option('--force', 'replace an existing entry; allow secrets in a project file')
    .addHelpText('after', ADD_HELP)
    .action(async (name: string, target: string, args: string[], values: Values) => {
      const { scope, transport, env = [], header = [], cwd, timeout, trust, onDemand } = values;
      const code = await startAdd(
        {
          name,
          scope,
          force: values.force === true,
          given: {
            target,
            args,
            env,
            headers: header,
            ...(transport !== undefined && { transport }),
            ...(cwd !== undefined && { cwd }),
            ...(timeout !== undefined && { timeout }),
            ...(trust && { trust }),
            ...(onDemand && { onDemand }),
            ...oauthOf(values),
          },
        },
        formatOf(values),
        process.env,
      );
      if (code !== 0) throw new ExitCode(code);
    });
}

function oauthOf({ clientId, clientSecret, issuer, callbackPort, xaa }: Values): { oauth?: GivenOAuth } {
  const oauth: GivenOAuth = {
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret && { hasSecret: true }),
    ...(issuer !== undefined && { issuer }),
    ...(callbackPort !== undefined && { callbackPort }),
    ...(xaa && { xaa }),
  };
  return Object.keys(oauth).length > 0 ? { oauth } : {};
}

const ADD_JSON_HELP = `
The JSON is the entry itself, the value of a name in "mcpServers"; comments and trailing commas are allowed. A complete
{"mcpServers": {…}} with one server is accepted too.

  toolplane mcp add-json files '{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]}'
  toolplane mcp add-json docs '{"type": "http", "url": "https://docs.example.com/mcp"}' -s user
  jq .mcpServers.github other.json | toolplane mcp add-json github -

A server of type "sdk" exists only in a program and is refused. Secrets are handled as by toolplane mcp add.

Exit codes:
  0  the entry was written
  1  the name exists, or the file cannot be written
  2  usage error, or invalid entry`;

type AddJsonValues = { json?: true; scope: WritableScope; force?: true };

/** `toolplane mcp add-json`: adds a server by its JSON entry. */
export function defineAddJson(command: Command): void {
  addJsonFlag(command)
    .argument('<name>', 'the name of the server')
    .argument('<json>', 'the entry; - for stdin')
    .addOption(scopeOption('local'))
    .option('--force', 'replace an existing entry; allow secrets in a project file')
    .addHelpText('after', ADD_JSON_HELP)
    .action(async (name: string, json: string, values: AddJsonValues) => {
      const request = { name, json, scope: values.scope, force: values.force === true };
      const code = await startAddJson(request, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}

type Target = { readonly name: string; readonly scope: WritableScope; readonly force: boolean };

/** Runs `toolplane mcp add`; returns its exit code. */
export function startAdd(
  { given, ...target }: Target & { readonly given: Given },
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, (session) => {
    const { cwd } = given;
    // A relative path is relative to the working directory, not to the user's settings file.
    const isRelative = cwd !== undefined && target.scope === 'user' && !cwd.startsWith('${');
    const resolved = isRelative ? { ...given, cwd: resolve(session.context.cwd, cwd) } : given;
    const secretName = clientSecretName(target.name);
    return storeServer(session, {
      ...target,
      given: givenEntry(resolved, secretName),
      ...(given.oauth?.hasSecret && { secretName }),
    });
  });
}

/** Runs `toolplane mcp add-json`; returns its exit code. `-` reads stdin. */
export function startAddJson(
  { json, ...target }: Target & { readonly json: string },
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async (session) => {
    const given = parseJsonEntry(target.name, json === '-' ? await text(process.stdin) : json);
    return storeServer(session, { ...target, given });
  });
}

export type StoreRequest = {
  readonly name: string;
  readonly scope: WritableScope;
  readonly given: GivenEntry;
  /** Replaces an existing entry, and writes secrets to a shared file. */
  readonly force: boolean;
  /** The name under which the client secret is stored. */
  readonly secretName?: string;
};

/** Writes an entry to the file of a scope and reports whether it is active. */
export async function storeServer(session: Session, request: StoreRequest): Promise<number> {
  const { context } = session;
  const { name, scope, force } = request;
  const { entry, notes: ofEntry = [] } = usable(request);
  const advice = secretAdvice(name, entry);
  if (scope === 'project' && advice.length > 0 && !force) {
    throw new UsageError(
      ...advice,
      'nothing was written, because the project file is shared; use --force to write the secret anyway',
    );
  }
  const path = pathOfScope(context, scope);
  const before = entriesOf(await readConfiguration(context), name).find((it) => it.path === path);
  if (before && !force) {
    const there = `${whereText(before)} already has a server "${name}" (${entryText(before.raw)})`;
    throw new CommandFailed(
      `${there}; use --force to replace it, or remove it with toolplane mcp remove ${shellQuote(name)} -s ${scope}`,
    );
  }
  if (request.secretName !== undefined) await storeClientSecret(session, request.secretName);
  const written = writeServer(context, scope, name, entry);
  const outcome = outcomeOf(serverRecord(await readConfiguration(context), name), written.path);
  const notes = [...ofEntry, ...advice, ...relativeAdvice(scope, entry)];
  const what = written.hadOne ? 'replaced' : 'added';
  const place = `${homeLabel(written.path, context)} (scope ${scope}${written.isNew ? ', a new file' : ''})`;
  await session.answer({
    document: {
      [what]: { name, scope, path: written.path, entry: maskEntry(entry) },
      verdict: outcome.verdict,
      shadows: outcome.shadows.map(whereDocument),
      ...(outcome.winner && { winner: whereDocument(outcome.winner) }),
      notes: [...notes, ...outcome.lines],
    },
    pieces: [
      line(`${what} `, [name, 'strong'], ` (${entryText(entry)}) in ${place}`),
      ...outcome.lines.map((it) => line(`  ${it}`)),
    ],
  });
  for (const note of notes) session.report(note);
  return 0;
}

/** Characters that names of secrets cannot have are replaced by their code points. */
function clientSecretName(server: string): string {
  const name = server.replace(/[^\w.-]/gu, (it) => `_${it.codePointAt(0)?.toString(16)}`);
  return `${name.slice(0, 100)}-client-secret`;
}

/** Stores the secret of `MCP_CLIENT_SECRET`, or the one that is typed or piped. */
async function storeClientSecret({ env, context }: Session, name: string): Promise<void> {
  const value = env.MCP_CLIENT_SECRET || (await readValue(name, process.stdin, process.stderr));
  process.stdin.destroy();
  if (!value)
    throw new CommandFailed(
      'nothing was written: the client secret is missing; type it, pipe it in, or set MCP_CLIENT_SECRET',
    );
  openSecretStore(context).set(name, value);
}

/** Whether the entry that was written to `path` is active, and which entries it shadows. */
function outcomeOf(
  record: ServerRecord,
  path: string,
): {
  readonly verdict: Verdict['kind'] | IgnoreReason | 'absent';
  readonly lines: readonly string[];
  readonly shadows: readonly WrittenServer[];
  readonly winner?: WrittenServer;
} {
  const { server, ignored, state } = record;
  if (server?.written.path === path) {
    const shadows = ignored.filter(({ why }) => why === 'shadowed').map(({ written }) => written);
    const over = shadows.map((it) => `shadows the entry in ${whereText(it)}`);
    const lines = [...(state === 'ready' ? [] : [shortStatus(record)]), ...over];
    return { verdict: server.verdict.kind, lines, shadows };
  }
  const own = ignored.find(({ written }) => written.path === path);
  if (!own) return { verdict: 'absent', lines: [], shadows: [] };
  const { why, winner } = own;
  const lines = [`ignored: ${describeIgnored(own)}`];
  return { verdict: why, lines, shadows: [], ...(winner && { winner }) };
}

/** A note about a relative path that may resolve to another directory. */
function relativeAdvice(scope: WritableScope, entry: Readonly<Record<string, unknown>>): string[] {
  const found = relativePath(scope, entry as ExternalServerEntry);
  return found ? [`${formatKeyPath(found.where)}: ${found.message}`] : [];
}

/** Validates the request without reading files. */
function usable({ name, scope, given }: StoreRequest): Extract<GivenEntry, { kind: 'entry' }> {
  const faults = [faultOfName(name) ?? [], given.kind === 'faulty' ? given.faults : []].flat();
  if (given.kind === 'entry' && scope === 'project' && given.entry.trust === true) {
    faults.push('"trust" is not allowed in a shared file; use --scope local or --scope user');
  }
  if (given.kind === 'faulty' || faults.length > 0) throw new UsageError(...faults);
  return given;
}

/** One line for each value that looks like a secret. */
export function secretAdvice(server: string, entry: Readonly<Record<string, unknown>>): string[] {
  return literalSecrets(entry).map((where) => {
    const name = secretName(server, where);
    return `${where} looks like a secret; to keep it out of the file, run toolplane secret set ${name} and write \${secret:${name}} instead`;
  });
}

/** The name of a variable, or one derived from the server's name. */
function secretName(server: string, where: string): string {
  const variable = /^env\.(\w+)$/.exec(where)?.[1];
  if (variable !== undefined) return variable;
  const upper = server.replace(/[^a-zA-Z0-9]+/g, '_').toUpperCase();
  return `${/^[A-Z_]/.test(upper) ? '' : '_'}${upper}_TOKEN`;
}

/** Why a name is not accepted: it is invalid, or probably a misplaced argument. */
export function faultOfName(name: string): string | undefined {
  if (name.startsWith('-'))
    return 'the name of a server must not start with "-"; write the flags and the name before --';
  const fault = validateServerName(name);
  if (fault !== undefined) return fault;
  if (name !== name.trim()) return 'the name of a server must not start or end with white space';
  if (/^\w+=/.test(name))
    return `"${name.replace(/=.*/s, '=…')}" is not a server name; set environment variables with -e KEY=value`;
  if (looksLikeUrl(name))
    return 'the name of the server is missing; write it before the URL: toolplane mcp add <name> <url>';
  return undefined;
}
