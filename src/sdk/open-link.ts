import { existsSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import type { AgentLink } from '../control/link.ts';
import { spawnAgent } from '../control/spawn-agent.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import type { AgentLaunch, Options } from './options.ts';

const DEFAULT_LINE_LENGTH = 64 * 1024 * 1024;
const SCRIPT = /\.([cm]?[jt]s|[jt]sx)$/;

/** Who hears what the agent says beside the protocol. Neither may throw. */
type AgentListeners = {
  /** Lines on stdout that are no frames. */
  onNoise(line: string): void;
  /** Text on stderr. */
  onStderr?: ((text: string) => void) | undefined;
};

/** A link to the agent the options name: given by the caller, started as a process, or the default one. */
export function openLink(
  options: Options,
  launch: AgentLaunch,
  openDefault: (launch: AgentLaunch, options: Options) => AgentLink,
  listeners: AgentListeners,
): AgentLink {
  if (options.link) return options.link(launch);
  const { pathToClaudeCodeExecutable: path, spawnClaudeCodeProcess: spawn } = options;
  if (isDefaultAgent(options)) return openDefault(launch, options);
  if (path && !spawn && isMissing(path, launch.cwd)) {
    throw new SdkError('spawn-failed', `options.pathToClaudeCodeExecutable: ${path} does not exist`);
  }
  return spawnAgent(
    { ...commandFor(path ?? 'claude', options, launch.argv), cwd: launch.cwd, env: launch.env },
    {
      maxLineLength: options.maxLineLength ?? DEFAULT_LINE_LENGTH,
      onNoise: listeners.onNoise,
      onStderr: listeners.onStderr,
      spawn,
      ...(options.closeGraceMs !== undefined && { graceMs: options.closeGraceMs }),
    },
  );
}

/** Whether the options leave it to us which agent there is. */
export function isDefaultAgent({
  link,
  pathToClaudeCodeExecutable,
  spawnClaudeCodeProcess,
}: Options): boolean {
  return !link && !pathToClaudeCodeExecutable && !spawnClaudeCodeProcess;
}

/** A script runs on a JavaScript runtime, anything else by itself. */
export function commandFor(
  path: string,
  options: Pick<Options, 'executable' | 'executableArgs'>,
  argv: readonly string[],
): { command: string; args: string[] } {
  const before = options.executableArgs ?? [];
  if (!SCRIPT.test(path)) return { command: path, args: [...before, ...argv] };
  return { command: options.executable ?? 'node', args: [...before, path, ...argv] };
}

/** A bare command is looked for on the PATH by who starts it; for a relative path a missing `cwd` is the fault to tell. */
function isMissing(path: string, cwd = '.'): boolean {
  if (isAbsolute(path)) return !existsSync(path);
  const isCommand = basename(path) === path && !SCRIPT.test(path);
  return !isCommand && existsSync(cwd) && !existsSync(resolve(cwd, path));
}
