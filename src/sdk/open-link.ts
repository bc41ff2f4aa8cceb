import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { AgentLink } from '../control/link.ts';
import { spawnAgent } from '../control/spawn-agent.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import type { AgentLaunch, Options } from './options.ts';

const DEFAULT_LINE_LENGTH = 64 * 1024 * 1024;
const SCRIPT = /\.(m?js|tsx?|jsx)$/;

/** A link to the agent the options name: given by the caller, started as a process, or the default one. */
export function openLink(
  options: Options,
  launch: AgentLaunch,
  openDefault: (launch: AgentLaunch, options: Options) => AgentLink,
  onNoise: (line: string) => void,
): AgentLink {
  if (options.link) return options.link(launch);
  const { pathToClaudeCodeExecutable: path, spawnClaudeCodeProcess: spawn } = options;
  if (!path && !spawn) return openDefault(launch, options);
  if (path && !spawn && isAbsolute(path) && !existsSync(path)) {
    throw new SdkError('spawn-failed', `options.pathToClaudeCodeExecutable: ${path} does not exist`);
  }
  return spawnAgent(
    { ...commandFor(path ?? 'claude', options, launch.argv), cwd: launch.cwd, env: launch.env },
    {
      maxLineLength: options.maxLineLength ?? DEFAULT_LINE_LENGTH,
      onNoise,
      onStderr: options.stderr,
      spawn,
      ...(options.closeGraceMs !== undefined && { graceMs: options.closeGraceMs }),
    },
  );
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
