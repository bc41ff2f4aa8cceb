import type { BashOutput } from '../../../protocol/tools/file-tools.ts';
import type { ToolOutcome } from '../../loop/run-calls.ts';
import { defineBuiltIn } from '../built-in.ts';
import type { ShellEnd } from './run-shell.ts';

const DEFAULT_TIMEOUT_MS = 120_000;

export const BASH = defineBuiltIn({
  name: 'Bash',
  description:
    'Runs a command in a new shell in the working directory and returns its output (stdout and stderr) and exit code. ' +
    'The command has no stdin and no terminal. Output is truncated in the middle beyond 30000 characters. Use Read, Grep and Glob to look ' +
    'at files.',
  annotations: { title: 'Run a command', readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  required: { command: { type: 'string', minLength: 1, description: 'The command, as for bash -c.' } },
  optional: {
    timeout: {
      type: 'integer',
      minimum: 1,
      maximum: 600_000,
      description: 'Time limit in milliseconds; 120000 by default.',
    },
    description: {
      type: 'string',
      description: 'What the command does, in five to ten words, for the user.',
    },
  },
  async run({ command, timeout = DEFAULT_TIMEOUT_MS }, { workspace, env, background }, signal) {
    const { runShell } = await import('./run-shell.ts');
    const end = await runShell(command, { cwd: workspace.cwd, env, limitMs: timeout, background }, signal);
    const { text, isError } = describeEnd(end, timeout);
    const notes = [
      ...(text === undefined ? [] : [text]),
      ...(end.leftRunning === undefined ? [] : [backgroundNote(end.leftRunning)]),
    ];
    const output = end.output.replace(/\n$/, '');
    const content = [...(output === '' ? [] : [output]), ...notes].join('\n') || '(no output)';
    if (isError) return { content, isError };
    // Both streams are in `stdout`, in the order they were written.
    const programResult: BashOutput = {
      stdout: output.replace(/\n+$/, ''),
      stderr: '',
      interrupted: false,
      isImage: false,
      noOutputExpected: false,
    };
    return { content, isError, programResult };
  },
});

function describeEnd(
  { how }: ShellEnd,
  limitMs: number,
): { readonly text?: string } & Pick<ToolOutcome, 'isError'> {
  switch (how.kind) {
    case 'exited':
      return how.code === 0 ? { isError: false } : { text: `Exit code ${how.code}`, isError: true };
    case 'killed':
      return { text: `Terminated by ${how.signal}`, isError: true };
    case 'timed-out':
      return {
        text: `Timed out after ${limitMs} ms; the command and its processes were terminated`,
        isError: true,
      };
    case 'aborted':
      return { text: 'Interrupted; the command and its processes were terminated', isError: true };
    case 'not-started':
      return { text: `The shell could not be started: ${how.fault}`, isError: true };
  }
}

function backgroundNote(group: number): string {
  return `[Processes are still running in the background; stop them with "kill -- -${group}", or they are stopped when this session ends]`;
}
