import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
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
import { BASH } from '../../agent/builtins/shell/bash.ts';
import { WakeQueue } from '../../agent/builtins/wake-queue.ts';
import type { ToolOutcome } from '../../agent/loop/run-calls.ts';
import { nearest } from '../../base/text/nearest.ts';
import { VERSION } from '../../entry/version.ts';
import { absolutePath, isInWorkspace, isProtectedPath, type Workspace } from '../../permissions/path.ts';
import type { CallToolResult, ContentBlock, ToolAnnotations } from '../../protocol/mcp.ts';
import type { ToolContext } from '../../tool-server/context.ts';
import { serveStdio } from '../../tool-server/serve.ts';
import { type AnyTool, tool } from '../../tool-server/tool.ts';
import { ToolServer } from '../../tool-server/tool-server.ts';
import { collect } from '../flags/flag-values.ts';
import { ExitCode, UsageError } from '../output/failure.ts';
import { claimStdout, flushed } from '../output/output.ts';
import { sanitize } from '../terminal/sanitize.ts';

const HELP = `
Any MCP client can use these tools, without an agent of ours and without a model:

  toolplane mcp serve                                Read, Glob and Grep, below the working directory
  toolplane mcp serve --cwd ~/code/shop              the same, below another directory
  toolplane mcp serve --allow-writes                 Edit and Write as well
  toolplane mcp serve --allow-shell --tools Bash     commands, and nothing else

In the file of a client:

  { "mcpServers": { "files": { "command": "toolplane", "args": ["mcp", "serve", "--cwd", "/home/me/shop"] } } }

What is opened, and what stays shut:
  by default       files below the directory can be read. What lies elsewhere is refused, also if a link leads there.
  --allow-writes   files below the directory can be created and changed, except those that decide what runs later:
                   .git, .claude, .toolplane, .mcp.json, .vscode, .idea, .husky.
  --allow-shell    any command can be run, as you. A command is not kept to the directory, and it can read, write and
                   send whatever you can.

Nobody is asked before a call: that is for the client to do. Without --cwd, a server that is started in the root of the
file system or in your home is refused, since clients start servers there without anybody meaning it.

Messages are one JSON-RPC object a line on stdin and stdout; it ends when its input does.

Exit codes:
  0  the client has gone
  1  it failed; the reason is on stderr
  2  the command was not understood, or there is no such tool or directory`;

type Values = { tools?: string[]; cwd?: string; readOnly?: true; allowWrites?: true; allowShell?: true };

/** `toolplane mcp serve`: the built-in tools as a stdio MCP server, shut as far as flags do not open it. */
export function defineMcpServe(command: Command): void {
  command
    .addOption(
      new Option('--tools <names>', 'only these, separated by commas; may be repeated').argParser(collect),
    )
    .option('--cwd <directory>', 'where paths start, and what files are kept to')
    .addOption(
      new Option('--read-only', 'only tools that read; this is the default').conflicts([
        'allowWrites',
        'allowShell',
      ]),
    )
    .option('--allow-writes', 'Edit and Write too, below the directory')
    .option('--allow-shell', 'Bash too, which is kept to nothing')
    .addHelpText('after', HELP)
    .action(async ({ tools, cwd, allowWrites, allowShell }: Values) => {
      await startServe(
        {
          ...(tools && { tools: tools.flatMap((it) => it.split(',')).map((it) => it.trim()) }),
          ...(cwd !== undefined && { cwd }),
          opened: [
            ...(allowWrites ? (['writes'] as const) : []),
            ...(allowShell ? (['shell'] as const) : []),
          ],
        },
        process.env,
      );
    });
}

export type ServeRequest = {
  /** By default all that are opened. */
  readonly tools?: readonly string[];
  readonly cwd?: string;
  readonly opened: readonly Opened[];
};

const NAME = 'toolplane';

/** Serves until the client has gone. */
export async function startServe(request: ServeRequest, env: NodeJS.ProcessEnv): Promise<void> {
  const home = env.HOME || homedir();
  const { builtIns, cwd } = understood(request, home);
  const output = claimStdout();
  await using background = new BackgroundProcesses();
  const context = servedContext({ cwd, home, directories: [] }, env, background);
  const server = new ToolServer({
    name: NAME,
    version: VERSION,
    instructions: `The tools work on what lies below ${cwd}; relative paths start there.`,
    tools: builtIns.map((it) => asTool(it, context)),
  });
  await serveStdio((port) => server.open(port), NAME, { input: process.stdin, output });
  await flushed(output);
}

function understood({ tools, opened, cwd: given }: ServeRequest, home: string) {
  try {
    return {
      builtIns: servedTools(opened, tools),
      cwd: servedDirectory({ given, cwd: process.cwd(), home }),
    };
  } catch (cause) {
    if (!(cause instanceof UsageError)) throw cause;
    process.stderr.write(`toolplane: ${sanitize(cause.message)}\n`);
    throw new ExitCode(2);
  }
}

/** There is no agent around: what belongs to one says so. */
function servedContext(
  workspace: Workspace,
  env: NodeJS.ProcessEnv,
  background: BackgroundProcesses,
): BuiltInContext {
  const fault = 'there is no agent here';
  return {
    workspace,
    env,
    isReadable: (path) => isInWorkspace(path, workspace),
    files: new FileMemory(),
    wake: new WakeQueue(),
    background,
    agents: {},
    connect: async () => ({ kind: 'failed', fault }),
    findTools: async () => ({ tools: [], unknown: [], searchable: 0, servers: [], waiting: [] }),
    resources: { list: async () => ({ fault }), read: async () => ({ content: fault, isError: true }) },
    delegate: async () => ({ content: fault, isError: true }),
  };
}

/** What a flag opens beside reading. */
export type Opened = 'writes' | 'shell';

/** Built-in tools that mean something without a session of an agent, and what each takes to be served. */
const SERVED: readonly { readonly builtIn: BuiltIn; readonly needs?: Opened }[] = [
  { builtIn: READ },
  { builtIn: GLOB },
  { builtIn: GREP },
  { builtIn: EDIT, needs: 'writes' },
  { builtIn: WRITE, needs: 'writes' },
  { builtIn: BASH, needs: 'shell' },
];

/** The tools that are wanted, as far as they are opened; a name that is none, or shut, ends the command with 2. */
export function servedTools(opened: readonly Opened[], wanted?: readonly string[]): readonly BuiltIn[] {
  const isOpen = (needs: Opened | undefined) => needs === undefined || opened.includes(needs);
  if (!wanted) return SERVED.filter(({ needs }) => isOpen(needs)).map(({ builtIn }) => builtIn);
  return [...new Set(wanted)].map((name) => {
    const found = SERVED.find(({ builtIn }) => builtIn.listed.name === name);
    if (!found) throw new UsageError(unknownTool(name));
    if (!isOpen(found.needs)) {
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

/** The directory files are kept to, free of links; one that nobody can have meant ends the command with 2. */
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
  const what = isRoot ? 'the root of the file system' : 'your home';
  throw new UsageError(`it was started in ${what}: name the directory to serve with --cwd <directory>`);
}

function realDirectory(path: string): string | undefined {
  try {
    const real = realpathSync.native(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

/** A built-in tool in the form that MCP clients call. */
export function asTool(builtIn: BuiltIn, context: BuiltInContext): AnyTool {
  const { name, description = '', inputSchema } = builtIn.listed;
  const handler = async (args: Record<string, unknown>, { signal }: ToolContext): Promise<CallToolResult> => {
    const kept = await keptIn(builtIn, args, context.workspace);
    const outcome =
      'fault' in kept
        ? { content: kept.fault, isError: true }
        : await builtIn.run(kept.input, context, signal);
    return asResult(outcome);
  };
  return tool(name, description, { ...inputSchema, type: 'object' }, handler, {
    annotations: annotationsOf(builtIn),
  });
}

/** All hints are stated: what is left out means the worst to a client. */
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

/** An input that stays in the directory, its path free of links; or why the call is refused. */
export async function keptIn(
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
    // Where a link leads is not told either.
    return { fault: `${given} is outside ${workspace.cwd}, and only what lies in there is served` };
  }
  // Nobody can be asked here, and who writes there decides what runs later.
  const isReading = builtIn.listed.annotations?.readOnlyHint === true;
  const isProtected = [path, absolutePath(given, workspace)].some((it) =>
    isProtectedPath(it.startsWith(workspace.cwd) ? it.slice(workspace.cwd.length) : it, workspace),
  );
  if (!isReading && isProtected) {
    return { fault: `${path} decides what runs later: it is not changed from here` };
  }
  return { input: real.input };
}
