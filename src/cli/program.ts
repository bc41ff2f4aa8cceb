import { Command, CommanderError } from 'commander';
import { visibleJson } from '../base/text/display-text.ts';
import { VERSION } from '../entry/version.ts';
import { messageOf, SdkError } from '../protocol/sdk-error.ts';
import { addCommands, type CommandRow, loadNamed } from './command-table.ts';
import { workingDirectory } from './host/named-servers.ts';
import {
  CommandFailed,
  ExitCode,
  errorDocument,
  outputError,
  reportError,
  wantsJson,
} from './output/failure.ts';

import { jsonDocument } from './output/format.ts';
import { sanitize } from './terminal/terminal-text.ts';

/** One row per command, in the order of `--help`. */
const COMMANDS: readonly CommandRow[] = [
  {
    name: 'chat',
    summary: 'Talk to an agent in the terminal (the default command).',
    load: async () => (await import('./commands/chat.ts')).defineChat,
  },
  {
    name: 'run',
    summary: 'Run one prompt and print the answer, for scripts.',
    load: async () => (await import('./commands/run.ts')).defineRun,
  },
  {
    name: 'tools',
    summary: 'List or search the tools of servers and show their token cost.',
    load: async () => (await import('./commands/tools/tools.ts')).defineTools,
  },
  {
    name: 'call',
    summary: 'Call one tool of a server.',
    load: async () => (await import('./commands/call/call.ts')).defineCall,
  },
  {
    name: 'resources',
    summary: 'List or read the resources of servers.',
    load: async () => (await import('./commands/resources.ts')).defineResources,
  },
  {
    name: 'prompts',
    summary: 'List the prompts of servers, or get one.',
    load: async () => (await import('./commands/prompts.ts')).definePrompts,
  },
  {
    name: 'mcp',
    summary: 'Configure MCP servers: add, list, inspect, remove, approve.',
    load: async () => (await import('./mcp/mcp.ts')).defineMcp,
  },
  {
    name: 'channels',
    summary: 'Show and manage the messages that servers pushed into conversations.',
    load: async () => (await import('./commands/channels.ts')).defineChannels,
  },
  {
    name: 'secret',
    summary: 'Store secrets that server entries refer to.',
    load: async () => (await import('./commands/secret.ts')).defineSecret,
  },
  {
    name: 'explain',
    summary: 'Explain a server, tool, permission or timeout, and list memory files and skills.',
    load: async () => (await import('./commands/explain/explain.ts')).defineExplain,
  },
  {
    name: 'agent',
    summary: 'Run the agent for another program: one JSON object per line on stdin and stdout.',
    load: async () => (await import('./commands/agent.ts')).defineAgent,
  },
  {
    name: 'acp',
    summary: 'Run the agent for an editor that implements the Agent Client Protocol.',
    load: async () => (await import('./commands/acp.ts')).defineAcp,
  },
  {
    name: 'serve',
    summary: 'Serve the tool server that a module exports, over stdio or HTTP.',
    load: async () => (await import('./commands/serve.ts')).defineServe,
  },
  {
    name: 'daemon',
    summary: 'Run the scheduled prompts of all projects while no session is open.',
    load: async () => (await import('./commands/daemon.ts')).defineDaemon,
  },
  {
    name: 'completion',
    summary: 'Print a completion script for bash, zsh or fish.',
    load: async () => (await import('./commands/completion/completion.ts')).defineCompletion,
  },
  {
    name: 'uninstall',
    summary: 'List and remove files and settings that Toolplane has written.',
    load: async () => (await import('./commands/uninstall/uninstall.ts')).defineUninstall,
  },
];

const EXIT_CODES = `
Exit codes:
  0  success
  1  failure; the reason is on stderr
  2  usage error`;

/** Runs the command line and returns its exit code; never throws. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const program = createProgram();
  const words = withCommand(argv.slice(2));
  try {
    await loadNamed(program, words);
    await program.parseAsync(words, { from: 'user' });
    return 0;
  } catch (thrown) {
    if (thrown instanceof ExitCode) return thrown.code;
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
    reportError(messageOf(thrown));
    if (thrown instanceof CommandFailed) {
      if (wantsJson(argv)) process.stdout.write(visibleJson(jsonDocument(errorDocument(thrown))));
    } else if (!(thrown instanceof SdkError) && thrown instanceof Error) {
      process.stderr.write(`${sanitize(String(thrown.stack))}\n`);
    }
    return 1;
  }
}

/** The program with every command listed and none defined yet. */
export function createProgram(): Command {
  const program = new Command('toolplane')
    .description('Connect tools and MCP servers to AI agents.')
    .version(VERSION, '-V, --version', 'print the version')
    .showSuggestionAfterError()
    .showHelpAfterError('(see --help)')
    .addHelpText('after', EXIT_CODES)
    .enablePositionalOptions()
    .configureOutput({ outputError })
    .exitOverride();
  addCommands(program, COMMANDS);
  // Every command needs a working directory, except completion in a shell that starts in a removed one.
  program.hook('preAction', (_, action) => {
    if (action.name() !== 'completion') workingDirectory();
  });
  return program;
}

/** Flags without a command are those of `chat`. */
function withCommand(args: readonly string[]): string[] {
  const [first] = args;
  const isOwn = first !== undefined && (!first.startsWith('-') || OWN_FLAGS.has(first));
  return isOwn ? [...args] : ['chat', ...args];
}

const OWN_FLAGS: ReadonlySet<string> = new Set(['-h', '--help', '-V', '--version']);
