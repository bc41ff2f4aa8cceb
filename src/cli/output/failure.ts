import { visibleJson } from '../../base/text/display-text.ts';
import { HostError, type HostErrorCode, ServerFault } from '../../mcp/errors/host-error.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { sanitize } from '../terminal/terminal-text.ts';
import { jsonDocument } from './format.ts';
import type { Output } from './output.ts';

/** The command failed: exit code 1, and the message on stderr. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly code: HostErrorCode | undefined;

  constructor(message: string, code?: HostErrorCode) {
    super(message);
    this.code = code;
  }
}

/** The lines to print for a failure. */
export function formatFailure(cause: unknown): readonly string[] {
  if (cause instanceof UsageError) return cause.lines;
  return [cause instanceof ServerFault ? `server ${cause.server}: ${cause.message}` : messageOf(cause)];
}

/** The JSON document for a failure: `code` is the JSON-RPC code of a server's error, or a `HostErrorCode`. */
export function errorDocument(cause: unknown): {
  readonly error: { readonly message: string; readonly code?: number | string };
} {
  const isCoded =
    cause instanceof ServerFault || cause instanceof HostError || cause instanceof CommandFailed;
  const code = isCoded ? cause.code : undefined;
  return { error: { message: formatFailure(cause).join('\n'), ...(code !== undefined && { code }) } };
}

/** The command line cannot be carried out as written: exit code 2. One problem per line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly lines: readonly string[];

  constructor(...lines: readonly string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

/** Ends a command with this exit code, after all its output. */
export class ExitCode extends Error {
  override readonly name = 'ExitCode';
  readonly code: number;

  constructor(code: number) {
    super(`exit code ${code}`);
    this.code = code;
  }
}

/** Ends a command with this exit code unless it is 0. */
export function exitWith(code: number): void {
  if (code !== 0) throw new ExitCode(code);
}

/** Prints a failure to stderr and, with `json`, as a document to stdout; returns the exit code. */
export async function reportFailure(
  cause: unknown,
  { report, print }: Pick<Output, 'report' | 'print'>,
  format: 'text' | 'json',
): Promise<1 | 2> {
  for (const line of formatFailure(cause)) report(line);
  if (format === 'json') await print(jsonDocument(errorDocument(cause)));
  return cause instanceof UsageError ? 2 : 1;
}

/** Prints one line to stderr; returns the exit code of a failure. */
export function reportError(text: string): 1 {
  process.stderr.write(`toolplane: ${sanitize(text)}\n`);
  return 1;
}

/** Prints a usage error to stderr and, with `--json`, as a document to stdout. */
export function outputError(text: string, write: (text: string) => void): void {
  const message = sanitize(text.trimEnd());
  write(`${message}\n`);
  if (wantsJson(process.argv)) {
    process.stdout.write(visibleJson(jsonDocument({ error: { message: message.replace(/^error: /, '') } })));
  }
}

/** Whether the command line asks for JSON; usage errors may occur before its options are parsed. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? undefined : end).includes('--json');
}
