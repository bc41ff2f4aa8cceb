import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { addAgentFlags, agentOptions, type FlagValues } from './agent-flags.ts';
import { ExitCode } from './exit-code.ts';
import { OUTPUT_FORMATS, type OutputFormat } from './run/output.ts';
import { startRun } from './run/start.ts';

const HELP = `
The prompt is the words given, or what comes through stdin:

  toolplane run "Which files are there?"
  git diff | toolplane run "Review this:" -      a - stands for stdin

Nobody is asked for permission: what would be asked is denied, and told on stderr with the rule that allows it.

With --fail-on-denied the exit code is 3 if any tool call was denied: by a rule, a mode, a hook, or because nobody could be
asked. With --output-format json the result lists these calls as permission_denials.

Exit codes:
  0    the turn succeeded
  1    it failed
  2    the command was not understood
  3    a tool call was denied (only with --fail-on-denied)
  130  it was interrupted (129, 143: hung up, terminated)`;

/** `toolplane run "prompt"`: one turn for scripts. */
export function defineRun(command: Command): void {
  addAgentFlags(command)
    .argument('[prompt...]', 'the prompt; - is stdin')
    .addOption(
      new Option(
        '-o, --output-format <format>',
        'what is printed: the last text, the result, or every message',
      )
        .choices(OUTPUT_FORMATS)
        .default('text'),
    )
    .option('--json', 'short for --output-format json')
    .option('--include-partial-messages', 'with stream-json: pieces of messages too')
    .option('--fail-on-denied', 'exit with 3 if any tool call was denied, for CI')
    .option('--verbose', 'tell on stderr which tools run, and which session it was')
    .addHelpText('after', HELP)
    .action(async (words: string[], values: FlagValues, command: Command) => {
      const prompt = await readPrompt(words);
      if (prompt.trim() === '') command.error('error: there is no prompt', { exitCode: 2 });
      const code = await startRun(
        {
          prompt,
          format: values.json ? 'json' : (values.outputFormat as OutputFormat),
          verbosity: values.verbose ? 'verbose' : 'quiet',
          failsOnDenied: values.failOnDenied === true,
          options: { ...agentOptions(command), ...partials(values) },
        },
        process.env,
      );
      if (code !== 0) throw new ExitCode(code);
    });
}

function partials({ includePartialMessages }: FlagValues): { includePartialMessages?: true } {
  return includePartialMessages ? { includePartialMessages: true } : {};
}

/** Stdin is read where a - stands, or if there are no words; never from a person, who would not know what is waited for. */
async function readPrompt(words: readonly string[]): Promise<string> {
  if (words.length > 0 && !words.includes('-')) return words.join(' ');
  if (process.stdin.isTTY && words.length === 0) return '';
  const input = await text(process.stdin);
  const said = words.filter((word) => word !== '-').join(' ');
  return said === '' ? input : `${said}\n\n${input}`;
}
