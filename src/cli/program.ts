import { Command, CommanderError } from 'commander';
import { visibleJson } from '../base/visible-text.ts';
import { VERSION } from '../entry/version.ts';
import { messageOf, SdkError } from '../protocol/sdk-error.ts';
import { addAgent } from './agent.ts';
import { addCall } from './call.ts';
import { neutralise } from './chat/neutralise.ts';
import { addChat } from './chat.ts';
import { addCompletion } from './completion.ts';
import { ExitCode } from './exit-code.ts';
import { addExplain } from './explain.ts';
import { wantsJson, withErrorDocuments } from './host/error-document.ts';
import { errorDocument, Failed } from './host/failure.ts';
import { jsonText } from './host/lines.ts';
import { workingDirectory } from './host/working-directory.ts';
import { addMcp } from './mcp.ts';
import { addPrompts } from './prompts.ts';
import { addResources } from './resources.ts';
import { addRun } from './run.ts';
import { addSecret } from './secret.ts';
import { addServe } from './serve.ts';
import { addTools } from './tools.ts';
import { addUninstall } from './uninstall.ts';

/** One row a command: each is a file of this folder. */
const COMMANDS: readonly ((program: Command) => void)[] = [
  addChat,
  addRun,
  addTools,
  addCall,
  addResources,
  addPrompts,
  addMcp,
  addSecret,
  addExplain,
  addAgent,
  addServe,
  addCompletion,
  addUninstall,
];

const EXIT_CODES = `
Exit codes:
  0  done
  1  it failed; the reason is on stderr
  2  the command was not understood`;

/** Runs the command line and gives its exit code; never throws. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const program = new Command('toolplane')
    .description('The open tool plane for AI agents.')
    .version(VERSION, '-V, --version', 'print the version')
    .showSuggestionAfterError()
    .showHelpAfterError('(run with --help for what there is)')
    .addHelpText('after', EXIT_CODES)
    .enablePositionalOptions()
    .exitOverride();
  for (const add of COMMANDS) add(program);
  for (const command of program.commands) command.exitOverride().showSuggestionAfterError();
  withErrorDocuments(program);
  // Without one nothing can be found; a shell that begins there still gets its completion.
  program.hook('preAction', (_, action) => {
    if (action.name() !== 'completion') workingDirectory();
  });
  try {
    await program.parseAsync(withCommand(argv));
    return 0;
  } catch (thrown) {
    if (thrown instanceof ExitCode) return thrown.code;
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
    process.stderr.write(`toolplane: ${neutralise(messageOf(thrown))}\n`);
    if (thrown instanceof Failed) {
      if (wantsJson(argv)) process.stdout.write(visibleJson(jsonText(errorDocument(thrown))));
    } else if (!(thrown instanceof SdkError) && thrown instanceof Error) {
      process.stderr.write(`${neutralise(String(thrown.stack))}\n`);
    }
    return 1;
  }
}

/** Flags without a command are those of the chat. */
function withCommand([node = '', script = '', ...args]: readonly string[]): string[] {
  const [first] = args;
  const isOwn = first !== undefined && (!first.startsWith('-') || OWN_FLAGS.has(first));
  return isOwn ? [node, script, ...args] : [node, script, 'chat', ...args];
}

const OWN_FLAGS: ReadonlySet<string> = new Set(['-h', '--help', '-V', '--version']);
