import { homedir } from 'node:os';
import type { BuiltInWorld } from '../../../agent/builtins/built-in.ts';
import { FileMemory } from '../../../agent/builtins/files/file-memory.ts';
import { LeftOvers } from '../../../agent/builtins/shell/left-overs.ts';
import { WakeQueue } from '../../../agent/builtins/wake-queue.ts';
import { VERSION } from '../../../entry/version.ts';
import { isInWorkspace, type Workspace } from '../../../permissions/path.ts';
import { serveStdio } from '../../../tool-server/serve.ts';
import { ToolServer } from '../../../tool-server/tool-server.ts';
import { neutralise } from '../../chat/neutralise.ts';
import { claimStdout, flushed } from '../../claim-stdout.ts';
import { ExitCode } from '../../exit-code.ts';
import { NotUnderstood } from '../../host/not-understood.ts';
import { asTool } from './as-tool.ts';
import { servedDirectory } from './served-directory.ts';
import { type Opened, servedTools } from './served-tools.ts';

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
  await using leftOvers = new LeftOvers();
  const world = servedWorld({ cwd, home, directories: [] }, env, leftOvers);
  const server = new ToolServer({
    name: NAME,
    version: VERSION,
    instructions: `The tools work on what lies below ${cwd}; relative paths start there.`,
    tools: builtIns.map((it) => asTool(it, world)),
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
    if (!(cause instanceof NotUnderstood)) throw cause;
    process.stderr.write(`toolplane: ${neutralise(cause.message)}\n`);
    throw new ExitCode(2);
  }
}

/** There is no agent around: what belongs to one says so. */
function servedWorld(workspace: Workspace, env: NodeJS.ProcessEnv, leftOvers: LeftOvers): BuiltInWorld {
  const fault = 'there is no agent here';
  return {
    workspace,
    env,
    isReadable: (path) => isInWorkspace(path, workspace),
    files: new FileMemory(),
    wake: new WakeQueue(),
    leftOvers,
    agents: {},
    connect: async () => ({ kind: 'failed', fault }),
    findTools: async () => ({ tools: [], unknown: [], searchable: 0, servers: [], waiting: [] }),
    resources: { list: async () => ({ fault }), read: async () => ({ content: fault, isError: true }) },
    delegate: async () => ({ content: fault, isError: true }),
  };
}
