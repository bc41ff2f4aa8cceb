import type { HookEvent } from '../protocol/hook.ts';
import { messageOf } from '../protocol/sdk-error.ts';

/** How a hook's shell command ended. */
export type CommandEnd = {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Converts the result of a command to hook output: 0 gives stdout, 2 blocks with stderr, other codes are failures. */
export function commandOutput(event: HookEvent, end: CommandEnd): unknown {
  const stderr = end.stderr.trim();
  if (end.code === 2)
    return {
      decision: 'block',
      reason: stderr || 'blocked by a hook command (exit code 2 without a message on stderr)',
    };
  if (end.code !== 0) {
    throw new Error(
      `the command ${end.code === null ? 'was terminated by a signal' : `exited with code ${end.code}`}${stderr === '' ? '' : `: ${stderr}`}`,
    );
  }
  const stdout = end.stdout.trim();
  if (stdout.startsWith('{')) return parseOutput(stdout);
  if (event === 'WorktreeCreate' && stdout !== '')
    return { hookSpecificOutput: { hookEventName: event, worktreePath: stdout } };
  if (stdout === '' || !TEXT_IS_CONTEXT.has(event)) return undefined;
  return { hookSpecificOutput: { hookEventName: event, additionalContext: stdout } };
}

function parseOutput(stdout: string): unknown {
  try {
    return JSON.parse(stdout);
  } catch (cause) {
    throw new Error(`the command printed invalid JSON: ${messageOf(cause)}`, { cause });
  }
}

/** The events for which plain text on stdout is context for the model; it is ignored for others. */
const TEXT_IS_CONTEXT: ReadonlySet<HookEvent> = new Set([
  'UserPromptSubmit',
  'UserPromptExpansion',
  'SessionStart',
]);
