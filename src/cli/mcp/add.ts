import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import { shellQuote } from '../../base/text/display-text.ts';
import { readConfiguration } from '../../config/configuration.ts';
import { literalSecrets, maskEntry } from '../../config/explain/mask-entry.ts';
import { formatKeyPath } from '../../config/files/diagnostics.ts';
import { relativePath } from '../../config/merge/resolve-server.ts';
import { homeLabel } from '../../config/sources/config-paths.ts';
import { validateServerName } from '../../config/sources/validate-entry.ts';
import { pathOfScope, type WritableScope, writeServer } from '../../config/write/write-servers.ts';
import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import { addJsonFlag, collect, formatOf, type McpFormat, scopeName } from '../flags/flag-values.ts';
import { milliseconds } from '../flags/server-flags.ts';
import { CommandFailed, ExitCode, UsageError } from '../output/failure.ts';
import { line } from '../terminal/render.ts';
import { entriesOf, entryText, whereDocument, whereText } from './entries.ts';
import {
  type Given,
  type GivenEntry,
  givenEntry,
  looksLikeUrl,
  parseJsonEntry,
  repeatVariables,
  type Transport,
  transportName,
} from './given-entry.ts';
import { outcomeOf } from './health.ts';
import { inSession, type Session } from './session.ts';

const ADD_HELP = `
An address is reached by http, or by sse if it speaks nothing else (ws:// by ws); -t keeps to one of them. Anything else
is a command that is run. Flags of that command would be taken for ours: write -- before it.

  toolplane mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  toolplane mcp add github -e GITHUB_TOKEN='\${GITHUB_TOKEN}' -- npx -y @modelcontextprotocol/server-github
  toolplane mcp add docs https://docs.example.com/mcp -H 'Authorization: Bearer \${secret:DOCS_TOKEN}'
  toolplane mcp add -s project -t sse board https://board.example.com/sse

Files:
  -s local     .toolplane/settings.local.json   this project, for you alone
  -s project   .mcp.json                        this project, shared with everybody who works on it
  -s user      ~/.toolplane/settings.json       all your projects

A server of -s user runs in a directory of its own, ~/.toolplane/servers/<name>, and not in the project: write
\${TOOLPLANE_PROJECT_DIR} where it is to have the project's path.

A value that looks like a secret is written as you gave it, with a warning; into the file of a project only with --force.
Keep it out of files: toolplane secret set NAME, and \${secret:NAME} in its place; or \${VAR} for a variable.

Exit codes:
  0  it is written
  1  there is one of that name, or the file cannot be written
  2  the command was not understood`;

const AFTER_UNKNOWN =
  '(flags of the command itself come after --: toolplane mcp add <name> -- npx -y some-server)';

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
  force?: true;
};

/** `toolplane mcp add`: one more server, by a command or an address. */
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
    .argument('<name>', 'what it is called from now on')
    .argument('<commandOrUrl>', 'the command that is run, or the address')
    .argument('[args...]', 'arguments of the command')
    .addOption(
      new Option('-s, --scope <scope>', 'where it is written: local, project or user')
        .argParser(scopeName)
        .default('local'),
    )
    .addOption(
      new Option('-t, --transport <transport>', 'how it is reached: stdio, http, sse or ws').argParser(
        transportName,
      ),
    )
    .addOption(
      new Option(
        '-e, --env <KEY=value>',
        'a variable for the command; more may follow, or be given by one more -e',
      ).argParser(collect),
    )
    .addOption(
      new Option(
        '-H, --header <header>',
        'a header for the address, as "Name: value"; may be repeated',
      ).argParser(collect),
    )
    .option(
      '--cwd <directory>',
      'where the command runs; by default the project, with -s user a directory of its own',
    )
    .addOption(new Option('--timeout <ms>', 'the longest one call may take').argParser(milliseconds))
    .option('--trust', 'believe what it says of its tools; not in scope project')
    .option('--on-demand', 'start it only once it is asked for')
    .option('--force', 'replace one of that name; write secrets into the file of a project')
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
          },
        },
        formatOf(values),
        process.env,
      );
      if (code !== 0) throw new ExitCode(code);
    });
}

const ADD_JSON_HELP = `
The JSON is the entry itself, what stands behind a name in "mcpServers"; comments and trailing commas may be in it. A
whole {"mcpServers": {…}} with one server in it is understood too.

  toolplane mcp add-json files '{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]}'
  toolplane mcp add-json docs '{"type": "http", "url": "https://docs.example.com/mcp"}' -s user
  jq .mcpServers.github other.json | toolplane mcp add-json github -

A server of type "sdk" lives in a program and is refused. Secrets are treated as toolplane mcp add does.

Exit codes:
  0  it is written
  1  there is one of that name, or the file cannot be written
  2  the command was not understood, or the entry cannot be used`;

type AddJsonValues = { json?: true; scope: WritableScope; force?: true };

/** `toolplane mcp add-json`: one more server, as its entry in a file. */
export function defineAddJson(command: Command): void {
  addJsonFlag(command)
    .argument('<name>', 'what it is called from now on')
    .argument('<json>', 'its entry; - is stdin')
    .addOption(
      new Option('-s, --scope <scope>', 'where it is written: local, project or user')
        .argParser(scopeName)
        .default('local'),
    )
    .option('--force', 'replace one of that name; write secrets into the file of a project')
    .addHelpText('after', ADD_JSON_HELP)
    .action(async (name: string, json: string, values: AddJsonValues) => {
      const request = { name, json, scope: values.scope, force: values.force === true };
      const code = await startAddJson(request, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}

type Target = { readonly name: string; readonly scope: WritableScope; readonly force: boolean };

/** `toolplane mcp add`; gives its exit code. */
export function startAdd(
  { given, ...target }: Target & { readonly given: Given },
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, (session) => {
    const { cwd } = given;
    // Typed here, so it is meant from here; in the file of the person it would start at that file.
    const isRelative = cwd !== undefined && target.scope === 'user' && !cwd.startsWith('${');
    const resolved = isRelative ? { ...given, cwd: resolve(session.context.cwd, cwd) } : given;
    return storeServer(session, { ...target, given: givenEntry(resolved) });
  });
}

/** `toolplane mcp add-json`; gives its exit code. A `-` is what comes through stdin. */
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
  /** Replaces what is there, and writes secrets into a file that is shared. */
  readonly force: boolean;
};

/** Writes one entry into the file of a scope and says what became of it. */
export async function storeServer(session: Session, request: StoreRequest): Promise<number> {
  const { context } = session;
  const { name, scope, force } = request;
  const { entry, notes: ofEntry = [] } = usable(request);
  const advice = secretAdvice(name, entry);
  if (scope === 'project' && advice.length > 0 && !force) {
    throw new UsageError(
      ...advice,
      'the file of a project is shared, so nothing was written; --force writes it',
    );
  }
  const path = pathOfScope(context, scope);
  const before = entriesOf(await readConfiguration(context), name).find((it) => it.path === path);
  if (before && !force) {
    const there = `${whereText(before)} has a server "${name}" (${entryText(before.raw)})`;
    throw new CommandFailed(
      `${there}; --force replaces it, toolplane mcp remove ${shellQuote(name)} -s ${scope} removes it`,
    );
  }
  const written = writeServer(context, scope, name, entry);
  const outcome = outcomeOf(await readConfiguration(context), name, written.path);
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

/** What a relative path means there, if it may not be what was meant. */
function relativeAdvice(scope: WritableScope, entry: Readonly<Record<string, unknown>>): string[] {
  const found = relativePath(scope, entry as ExternalServerEntry);
  return found ? [`${formatKeyPath(found.where)}: ${found.message}`] : [];
}

/** What can be said of the request without looking at any file. */
function usable({ name, scope, given }: StoreRequest): Extract<GivenEntry, { kind: 'entry' }> {
  const faults = [faultOfName(name) ?? [], given.kind === 'faulty' ? given.faults : []].flat();
  if (given.kind === 'entry' && scope === 'project' && given.entry.trust === true) {
    faults.push('a file that is shared cannot ask to be trusted; use --scope local or user for trust');
  }
  if (given.kind === 'faulty' || faults.length > 0) throw new UsageError(...faults);
  return given;
}

/** What is said of values that look like secrets and would stand in a file as they are, a line each. */
export function secretAdvice(server: string, entry: Readonly<Record<string, unknown>>): string[] {
  return literalSecrets(entry).map((where) => {
    const name = secretName(server, where);
    return `${where} holds what looks like a secret; to keep it out of the file: toolplane secret set ${name}, and write \${secret:${name}} in its place`;
  });
}

/** A variable keeps its name; anything else is called after its server. */
function secretName(server: string, where: string): string {
  const variable = /^env\.(\w+)$/.exec(where)?.[1];
  if (variable !== undefined) return variable;
  const upper = server.replace(/[^a-zA-Z0-9]+/g, '_').toUpperCase();
  return `${/^[A-Z_]/.test(upper) ? '' : '_'}${upper}_TOKEN`;
}

/** Why a server cannot be given this name; undefined if it can. Some names would do, and are something else mistyped. */
export function faultOfName(name: string): string | undefined {
  if (name.startsWith('-')) return `a name does not begin with "-"; flags come before --, the name too`;
  const fault = validateServerName(name);
  if (fault !== undefined) return fault;
  if (name !== name.trim()) return 'the name of a server neither begins nor ends with a blank';
  if (/^\w+=/.test(name))
    return `"${name.replace(/=.*/s, '=…')}" is no name; variables come after -e: -e KEY=value`;
  if (looksLikeUrl(name)) return 'the name comes first, then the address: toolplane mcp add <name> <url>';
  return undefined;
}
