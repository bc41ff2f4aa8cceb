import { homedir } from 'node:os';
import type { Writable } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import { describeFlags } from '../../agent/launch/flag-table.ts';
import { streamLink } from '../../control/process-link.ts';
import { VERSION } from '../../entry/version.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { ExitCode } from '../output/failure.ts';
import { claimStdout, flushed } from '../output/output.ts';
import { sanitize } from '../terminal/terminal-text.ts';

/** Maximum length of an input line in characters; a prompt with images is long. */
const MAX_LINE_LENGTH = 64 * 1024 * 1024;

/** `toolplane agent`: the agent as a process that an SDK controls over stdin and stdout. */
export function defineAgent(command: Command): void {
  command
    .usage('[flags]')
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText('after', () => `\n${describeFlags()}`)
    .action(async (_options: unknown, command: Command) => {
      const output = claimStdout();
      await runAgent(command.args, output);
      await flushed(output);
    });
}

/** Runs until the program has closed stdin and its turns are done, or until a signal. */
async function runAgent(argv: readonly string[], output: Writable): Promise<void> {
  const [{ launch }, { parseFlags }] = await Promise.all([
    import('../../agent/launch/launch.ts'),
    import('../../agent/launch/parse-flags.ts'),
  ]);
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  const note = (text: string) => void process.stderr.write(`toolplane agent: ${sanitize(text)}\n`);
  const link = streamLink({ input: process.stdin, output }, { maxLineLength: MAX_LINE_LENGTH, onNoise });
  try {
    const session = await launch(link, {
      flags: parseFlags(argv),
      env: { ...process.env },
      cwd: process.cwd(),
      home: process.env.HOME ?? homedir(),
      version: VERSION,
      now: () => new Date(),
      note,
      signal: stop.signal,
    });
    await session.done;
    if (session.hasFailed) throw new ExitCode(1);
  } catch (cause) {
    if (!(cause instanceof SdkError) || cause.code !== 'bad-option') throw cause;
    note(cause.message);
    throw new CommanderError(2, 'toolplane.flags', cause.message);
  }

  function onNoise(): void {
    note('skipped an input line that is not a JSON object');
  }
}
