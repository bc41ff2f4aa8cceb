import { existsSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import type { AgentLink } from '../../control/link.ts';
import { memoryLinks } from '../../control/memory-link.ts';
import { ProcessExitError, spawnAgent } from '../../control/process-link.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { launchArgv } from '../../protocol/launch-flag.ts';
import { messageOf, SdkError } from '../../protocol/sdk-error.ts';
import type { LaunchPlan, Options } from '../options/options.ts';
import type { TurnState } from './turn-state.ts';

const DEFAULT_LINE_LENGTH = 64 * 1024 * 1024;
const SCRIPT = /\.([cm]?[jt]s|[jt]sx)$/;

/** Listeners for the agent's output outside the protocol. They must not throw. */
type AgentListeners = {
  /** Receives lines on stdout that are not frames. */
  onNoise(line: string): void;
  /** Text on stderr. */
  onStderr?: ((text: string) => void) | undefined;
};

/** A link to the agent the options name: given by the caller, started as a process, or the default one. */
export function openLink(
  options: Options,
  launch: LaunchPlan,
  openDefault: (launch: LaunchPlan, options: Options) => AgentLink,
  listeners: AgentListeners,
): AgentLink {
  if (isDefaultAgent(options)) return openDefault(launch, options);
  const { flags, cwd, env } = launch;
  const argv = launchArgv(flags);
  if (options.link) return options.link({ argv, cwd, env });
  const { pathToClaudeCodeExecutable: path, spawnClaudeCodeProcess: spawn } = options;
  if (path && !spawn && isMissing(path, cwd)) {
    throw new SdkError('spawn-failed', `options.pathToClaudeCodeExecutable: ${path} does not exist`);
  }
  return spawnAgent(
    { ...commandFor(path ?? 'claude', options, argv), cwd, env },
    {
      maxLineLength: options.maxLineLength ?? DEFAULT_LINE_LENGTH,
      onNoise: listeners.onNoise,
      onStderr: listeners.onStderr,
      spawn,
      ...(options.closeGraceMs !== undefined && { graceMs: options.closeGraceMs }),
    },
  );
}

/** Whether the options select no agent, so that the default one is used. */
export function isDefaultAgent({
  link,
  pathToClaudeCodeExecutable,
  spawnClaudeCodeProcess,
}: Options): boolean {
  return !link && !pathToClaudeCodeExecutable && !spawnClaudeCodeProcess;
}

/** A script is run by a JavaScript runtime; any other file is executed. */
export function commandFor(
  path: string,
  options: Pick<Options, 'executable' | 'executableArgs'>,
  argv: readonly string[],
): { command: string; args: string[] } {
  const before = options.executableArgs ?? [];
  if (!SCRIPT.test(path)) return { command: path, args: [...before, ...argv] };
  return { command: options.executable ?? 'node', args: [...before, path, ...argv] };
}

/** Whether the executable is missing. A bare command is searched on the PATH at spawn; with a missing `cwd`, that is the error to report. */
function isMissing(path: string, cwd = '.'): boolean {
  if (isAbsolute(path)) return !existsSync(path);
  const isCommand = basename(path) === path && !SCRIPT.test(path);
  return !isCommand && existsSync(cwd) && !existsSync(resolve(cwd, path));
}

/** State of the conversation when the agent exited. */
type Exit = {
  /** The error with which the link ended; `undefined` if the link ended without one. */
  readonly cause: unknown;
  /** Whether this process ended the link. */
  readonly isExpected: boolean;
  /** Whether the agent had answered `initialize`. */
  readonly isReady: boolean;
  readonly turn: Pick<TurnState, 'sent' | 'results'>;
  readonly lastResult: Frame | undefined;
};

/** The error that iterating throws; `undefined` if the conversation ended as expected. */
export function exitReason({ cause, isExpected, isReady, turn, lastResult }: Exit): unknown {
  if (cause !== undefined) return explainExit(cause, lastResult);
  if (isExpected) return undefined;
  if (!isReady) return leftEarly('it answered initialize: check that the executable is an agent CLI');
  return turn.sent > 0 && turn.results === 0 ? leftEarly('it sent a result') : undefined;
}

function leftEarly(before: string): EarlyExitError {
  return new EarlyExitError('process-exited', `The agent ended before ${before}`);
}

/** The agent ended without an error, but too early. Iterating a query ends then, as with the official package. */
export class EarlyExitError extends SdkError {}

/** A link to an agent that could not be started. */
export function failedLink(cause: unknown): AgentLink {
  const { program, fail } = memoryLinks();
  fail(cause);
  return program;
}

/** Replaces an exit error by the error of the failed result before it, which is more specific than the exit code. */
export function explainExit(cause: unknown, lastResult: Frame | undefined): unknown {
  if (!(cause instanceof ProcessExitError) || lastResult?.is_error !== true) return cause;
  const { errors, result, subtype } = lastResult;
  const listed = Array.isArray(errors) ? errors.filter((it) => typeof it === 'string') : [];
  const texts = subtype === 'success' ? [messageOf(result)] : listed.map((it) => it.trim());
  const text = texts.filter((it) => it !== '').join('; ');
  if (text === '') return cause;
  return new SdkError('process-exited', `Claude Code returned an error result: ${text}`, {
    cause,
  });
}
