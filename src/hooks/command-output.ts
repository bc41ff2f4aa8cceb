import type { HookEvent } from '../protocol/hook.ts';

/** How a hook's shell command ended. */
export type CommandEnd = {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** What a command said, as a callback would say it: 0 speaks on stdout, 2 blocks with stderr, all else has failed. */
export function commandOutput(event: HookEvent, end: CommandEnd): unknown {
  const stderr = end.stderr.trim();
  if (end.code === 2) return { decision: 'block', reason: stderr || 'a hook command blocked this' };
  if (end.code !== 0) {
    throw new Error(`the command ended with ${end.code ?? 'a signal'}${stderr === '' ? '' : `: ${stderr}`}`);
  }
  const stdout = end.stdout.trim();
  if (stdout.startsWith('{')) return JSON.parse(stdout);
  if (stdout === '' || !TEXT_IS_CONTEXT.has(event)) return undefined;
  return { hookSpecificOutput: { hookEventName: event, additionalContext: stdout } };
}

/** For other events a command's plain text is chatter. */
const TEXT_IS_CONTEXT: ReadonlySet<HookEvent> = new Set([
  'UserPromptSubmit',
  'UserPromptExpansion',
  'SessionStart',
]);
