import { realpathSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { BuiltIn, BuiltInContext } from '../../agent/builtins/built-in.ts';
import { EDIT } from '../../agent/builtins/files/edit.ts';
import { FileMemory } from '../../agent/builtins/files/file-memory.ts';
import { READ } from '../../agent/builtins/files/read.ts';
import { realInput } from '../../agent/builtins/files/real-path.ts';
import { WRITE } from '../../agent/builtins/files/write.ts';
import { GLOB } from '../../agent/builtins/search/glob.ts';
import { GREP } from '../../agent/builtins/search/grep.ts';
import { BackgroundProcesses } from '../../agent/builtins/shell/background-processes.ts';
import { FOREGROUND_BASH } from '../../agent/builtins/shell/bash.ts';
import { WakeQueue } from '../../agent/builtins/wake-queue.ts';
import type { ToolOutcome } from '../../agent/loop/run-calls.ts';
import { BackgroundTasks } from '../../agent/tasks/background-tasks.ts';
import { nearest } from '../../base/text/nearest.ts';
import { VERSION } from '../../entry/version.ts';
import { absolutePath, isInWorkspace, isProtectedPath, type Workspace } from '../../permissions/path.ts';
import type { CallToolResult, ContentBlock, ToolAnnotations } from '../../protocol/mcp.ts';
import type { ToolContext } from '../../tool-server/context.ts';
import { serveStdio } from '../../tool-server/serving/serve.ts';
import { type AnyTool, tool } from '../../tool-server/tool.ts';
import { ToolServer } from '../../tool-server/tool-server.ts';
import { collect } from '../flags/flag-values.ts';
import { ExitCode, UsageError } from '../output/failure.ts';
import { claimStdout, flushed } from '../output/output.ts';
import { sanitize } from '../terminal/terminal-text.ts';

const HELP = `
Serves built-in tools to any MCP client, without an agent and without a model:

  toolplane mcp serve                                Read, Glob and Grep, below the working directory
  toolplane mcp serve --cwd ~/code/shop              the same, below another directory
  toolplane mcp serve --allow-writes                 Edit and Write as well
  toolplane mcp serve --allow-shell --tools Bash     only shell commands

In the configuration of a client:

  { "mcpServers": { "files": { "command": "toolplane", "args": ["mcp", "serve", "--cwd", "/home/me/shop"] } } }

Access:
  by default       files below the directory can be read. Other paths are denied, including through symbolic links.
  --allow-writes   files below the directory can be created and changed, except files that can cause code to run
                   later, such as .git, .github/workflows, .claude, .toolplane, .mcp.json, .vscode, .husky, .npmrc,
                   .envrc, shell startup files and node_modules.
  --allow-shell    any command can be run with your permissions. Commands are not restricted to the directory: they can
                   read, write and send everything that you can.

Calls run without confirmation; only the client can ask the user. Without --cwd, the file system root and your home
directory are refused, because clients often start servers there by default.

Each line on stdin and stdout is one JSON-RPC message; the server exits at the end of stdin.

Exit codes:
  0  the client closed the connection
  1  failure; the reason is on stderr
  2  usage error, unknown tool, or no such directory`;

type Values = { tools?: string[]; cwd?: string; readOnly?: true; allowWrites?: true; allowShell?: true };

/** `toolplane mcp serve`: the built-in tools as a stdio MCP server; read-only unless flags allow more. */
export function defineMcpServe(command: Command): void {
  command
    .addOption(
      new Option('--tools <names>', 'only these tools, separated by commas; may be repeated').argParser(
        collect,
      ),
    )
    .option('--cwd <directory>', 'the directory to serve; relative paths are relative to it')
    .addOption(
      new Option('--read-only', 'only read-only tools (default)').conflicts(['allowWrites', 'allowShell']),
    )
    .option('--allow-writes', 'also Edit and Write, below the directory')
    .option('--allow-shell', 'also Bash, which is not restricted to the directory')
    .addHelpText('after', HELP)
    .action(async ({ tools, cwd, allowWrites, allowShell }: Values) => {
      await startServe(
        {
          ...(tools && { tools: tools.flatMap((it) => it.split(',')).map((it) => it.trim()) }),
          ...(cwd !== undefined && { cwd }),
          allowed: [
            ...(allowWrites ? (['writes'] as const) : []),
            ...(allowShell ? (['shell'] as const) : []),
          ],
        },
        process.env,
      );
    });
}

export type ServeRequest = {
  /** Default: all that are allowed. */
  readonly tools?: readonly string[];
  readonly cwd?: string;
  readonly allowed: readonly Access[];
};

const NAME = 'toolplane';

/** Serves until the client closes the connection. */
export async function startServe(request: ServeRequest, env: NodeJS.ProcessEnv): Promise<void> {
  const home = env.HOME || homedir();
  const { builtIns, cwd } = resolveRequest(request, home);
  const output = claimStdout();
  await using background = new BackgroundProcesses();
  const context = servedContext({ cwd, home, directories: [] }, env, background);
  const server = new ToolServer({
    name: NAME,
    version: VERSION,
    instructions: `The tools work on files below ${cwd}; relative paths are relative to it.`,
    tools: builtIns.map((it) => asTool(it, context)),
  });
  await serveStdio((port) => server.open(port), NAME, { input: process.stdin, output });
  await flushed(output);
}

function resolveRequest({ tools, allowed, cwd: given }: ServeRequest, home: string) {
  try {
    return {
      builtIns: servedTools(allowed, tools),
      cwd: servedDirectory({ given, cwd: process.cwd(), home }),
    };
  } catch (cause) {
    if (!(cause instanceof UsageError)) throw cause;
    process.stderr.write(`toolplane: ${sanitize(cause.message)}\n`);
    throw new ExitCode(2);
  }
}

/** The context of the tools without an agent. */
function servedContext(
  workspace: Workspace,
  env: NodeJS.ProcessEnv,
  background: BackgroundProcesses,
): BuiltInContext {
  const fault = 'not available: toolplane mcp serve runs without an agent';
  return {
    workspace,
    toolUseId: '',
    tasks: new BackgroundTasks({ emit() {}, onNotice() {} }),
    outputFile: (id) => join(tmpdir(), `toolplane-${id}.output`),
    moveShell: () => undefined,
    env,
    isReadable: (path) => isInWorkspace(path, workspace),
    files: new FileMemory(),
    wake: new WakeQueue(),
    services: {},
    background,
    connect: async () => ({ kind: 'failed', fault }),
    findTools: async () => ({ tools: [], unknown: [], searchable: 0, servers: [], waiting: [] }),
    resources: {
      list: async () => ({ fault }),
      read: async () => ({ content: fault, isError: true }),
      watch: async () => fault,
    },
  };
}

/** What a flag allows besides reading. */
export type Access = 'writes' | 'shell';

/** Built-in tools that work without a session, and the access that each needs. */
const SERVED: readonly { readonly builtIn: BuiltIn; readonly needs?: Access }[] = [
  { builtIn: READ },
  { builtIn: GLOB },
  { builtIn: GREP },
  { builtIn: EDIT, needs: 'writes' },
  { builtIn: WRITE, needs: 'writes' },
  { builtIn: FOREGROUND_BASH, needs: 'shell' },
];

/** The requested tools, or all allowed ones; an unknown or disallowed name is a usage error. */
export function servedTools(allowed: readonly Access[], wanted?: readonly string[]): readonly BuiltIn[] {
  const isAllowed = (needs: Access | undefined) => needs === undefined || allowed.includes(needs);
  if (!wanted) return SERVED.filter(({ needs }) => isAllowed(needs)).map(({ builtIn }) => builtIn);
  return [...new Set(wanted)].map((name) => {
    const found = SERVED.find(({ builtIn }) => builtIn.listed.name === name);
    if (!found) throw new UsageError(unknownTool(name));
    if (!isAllowed(found.needs)) {
      throw new UsageError(`${name} is not allowed; use --allow-${found.needs} to allow it (see --help)`);
    }
    return found.builtIn;
  });
}

function unknownTool(name: string): string {
  const names = SERVED.map(({ builtIn }) => builtIn.listed.name);
  const closest = nearest(name, names) ?? names.find((it) => it.toLowerCase() === name.toLowerCase());
  const hint = closest === undefined ? '' : `; did you mean ${closest}?`;
  return `unknown tool "${name}" to serve${hint} (known: ${names.join(', ')})`;
}

/** The real path of the directory to serve. Without `--cwd`, the root and the home directory are usage errors. */
export function servedDirectory(around: {
  readonly given?: string | undefined;
  readonly cwd: string;
  readonly home: string;
}): string {
  const { given, cwd, home } = around;
  const directory = realDirectory(resolve(cwd, given ?? '.'));
  if (directory === undefined) throw new UsageError(`--cwd ${given ?? cwd} is not a directory`);
  if (given !== undefined) return directory;
  const isRoot = dirname(directory) === directory;
  if (!isRoot && directory !== realDirectory(home)) return directory;
  const what = isRoot ? 'the root of the file system' : 'your home directory';
  throw new UsageError(`the working directory is ${what}; set the directory to serve with --cwd <directory>`);
}

function realDirectory(path: string): string | undefined {
  try {
    const real = realpathSync.native(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

/** A built-in tool as a tool of an MCP server. */
export function asTool(builtIn: BuiltIn, context: BuiltInContext): AnyTool {
  const { name, description = '', inputSchema } = builtIn.listed;
  const handler = async (args: Record<string, unknown>, { signal }: ToolContext): Promise<CallToolResult> => {
    const checked = await checkPath(builtIn, args, context.workspace);
    const outcome =
      'fault' in checked
        ? { content: checked.fault, isError: true }
        : await builtIn.run(checked.input, context, signal);
    return asResult(outcome);
  };
  return tool(name, description, { ...inputSchema, type: 'object' }, handler, {
    annotations: annotationsOf(builtIn),
  });
}

/** Sets every hint, since a missing one counts as the less safe value: destructive, not idempotent, open world. */
function annotationsOf({ listed: { annotations = {} } }: BuiltIn): ToolAnnotations {
  const isReading = annotations.readOnlyHint === true;
  return { destructiveHint: !isReading, idempotentHint: isReading, openWorldHint: false, ...annotations };
}

function asResult({ content, isError }: ToolOutcome): CallToolResult {
  const blocks =
    typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content.map(asBlock);
  return { content: blocks, ...(isError && { isError }) };
}

function asBlock(block: Exclude<ToolOutcome['content'], string>[number]): ContentBlock {
  if (block.type === 'text') return { type: 'text', text: block.text };
  if (block.type === 'image') {
    const { data, media_type } = block.source;
    if (typeof data === 'string' && typeof media_type === 'string') {
      return { type: 'image', data, mimeType: media_type };
    }
  }
  return { type: 'text', text: JSON.stringify(block) };
}

type Input = Readonly<Record<string, unknown>>;

/** The input with its real path, or why the path is denied. */
export async function checkPath(
  builtIn: BuiltIn,
  input: Input,
  workspace: Workspace,
): Promise<{ readonly input: Input } | { readonly fault: string }> {
  const real = await realInput(builtIn, input, workspace);
  if (real.kind === 'unresolved') return { fault: real.fault };
  const path = builtIn.pathMember === undefined ? undefined : real.input[builtIn.pathMember];
  if (typeof path !== 'string') return { input: real.input };
  const given = String(input[builtIn.pathMember ?? '']);
  if (!isInWorkspace(path, workspace)) {
    // The message does not reveal the target of a link.
    return { fault: `${given} is outside ${workspace.cwd}; only files in this directory are served` };
  }
  // No user can be asked here, and these files control what is executed later.
  const isReading = builtIn.listed.annotations?.readOnlyHint === true;
  const isProtected = [path, absolutePath(given, workspace)].some((it) =>
    isProtectedPath(it.startsWith(workspace.cwd) ? it.slice(workspace.cwd.length) : it, workspace),
  );
  if (!isReading && isProtected) {
    return { fault: `${path} controls what is executed later and cannot be changed by this server` };
  }
  return { input: real.input };
}
