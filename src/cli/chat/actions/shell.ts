import { spawn } from 'node:child_process';
import type { BackgroundProcesses } from '../../../agent/builtins/shell/background-processes.ts';
import { endWithHost } from '../../../base/process/kill-on-death.ts';
import { ProcessGroup } from '../../../base/process/process-group.ts';
import { keptLine, line, type Piece } from '../../terminal/render.ts';
import { withoutColors } from '../../terminal/terminal-text.ts';

/** What a command of the user printed, and how it ended. */
export type ShellResult = {
  readonly stdout: string;
  readonly stderr: string;
  /** The exit code; undefined if a signal ended the command. */
  readonly code: number | undefined;
  readonly pieces: readonly Piece[];
};

type ShellContext = {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Ends the command and its children. */
  readonly signal: AbortSignal;
  /** Ends what the command leaves running. */
  readonly processes: BackgroundProcesses;
};

/** The number of bytes that are kept of each stream. */
const MAX_BYTES = 30_000;

/** Runs a command that the user typed, in the shell of the user. Its input is empty. */
export async function runShellCommand(command: string, context: ShellContext): Promise<ShellResult> {
  const { cwd, env, signal, processes } = context;
  const [file, args] = process.platform === 'win32' ? ['cmd', ['/d', '/s', '/c']] : ['/bin/sh', ['-c']];
  const child = spawn(file, [...args, command], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  });
  const stdout = new Kept();
  const stderr = new Kept();
  child.stdout.on('data', (bytes: Buffer) => stdout.add(bytes));
  child.stderr.on('data', (bytes: Buffer) => stderr.add(bytes));
  const ended = Promise.withResolvers<number | null>();
  child.on('error', ended.reject);
  child.on('close', ended.resolve);
  const group = child.pid === undefined ? undefined : new ProcessGroup(child.pid);
  if (group) processes.add(group, cwd, endWithHost(group));
  const stop = () => void group?.end();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const code = (await ended.promise) ?? undefined;
    const texts = { stdout: stdout.text, stderr: stderr.text };
    return { ...texts, code, pieces: outputPieces(texts, code) };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The first bytes of a stream. */
class Kept {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  add(bytes: Buffer): void {
    if (this.#length < MAX_BYTES) this.#chunks.push(bytes.subarray(0, MAX_BYTES - this.#length));
    this.#length += bytes.length;
  }

  get text(): string {
    const text = Buffer.concat(this.#chunks).toString('utf8').replace(/\n$/, '');
    const dropped = this.#length - MAX_BYTES;
    return dropped > 0 ? `${text}\n[${dropped} more bytes]` : text;
  }
}

function outputPieces(
  { stdout, stderr }: Pick<ShellResult, 'stdout' | 'stderr'>,
  code: number | undefined,
): Piece[] {
  const text = [stdout, stderr].filter((it) => it !== '').join('\n');
  // The user asked for this output: all of it is shown.
  const output = withoutColors(text) || '(no output)';
  const rows = output.split('\n').map((row) => keptLine('  ', [row, 'dim']));
  const end = code === undefined ? 'ended by a signal' : `exit code ${code}`;
  return code === 0 ? rows : [...rows, line([`  ${end}`, 'warn'])];
}

/** The message that adds a command and its output to the conversation; it starts no turn. */
export function shellMessage(
  command: string,
  { stdout, stderr }: Pick<ShellResult, 'stdout' | 'stderr'>,
): object {
  const texts = [
    `<bash-input>${escapeTags(command)}</bash-input>`,
    `<bash-stdout>${escapeTags(stdout)}</bash-stdout><bash-stderr>${escapeTags(stderr)}</bash-stderr>`,
  ];
  const content = texts.map((text) => ({ type: 'text', text }));
  return { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, shouldQuery: false };
}

/** Escapes the tags of a shell message, so that output cannot end the element that contains it. */
function escapeTags(text: string): string {
  return text.replace(/<(?=\/?bash-(?:input|stdout|stderr))/gi, '&lt;');
}
