import { homedir } from 'node:os';
import type { Writable } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import { describeFlags } from '../../agent/launch/flag-table.ts';
import { streamLink } from '../../control/process-link.ts';
import { VERSION } from '../../entry/version.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { ExitCode } from '../output/failure.ts';
import { claimStdout, flushed } from '../output/output.ts';
import { sanitize } from '../terminal/text.ts';

/** The longest line a program may send, in characters: a prompt with images is long. */
const MAX_LINE_LENGTH = 64 * 1024 * 1024;

/** `toolplane agent`: the host half as a process, driven over stdin and stdout by whichever SDK speaks the protocol. */
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

/** Ends when the program has gone and its turns are done, or with a signal. */
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
    note('a line that is no JSON object was skipped');
  }
}
