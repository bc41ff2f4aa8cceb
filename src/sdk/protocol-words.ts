/**
 * An item in a list of system prompt blocks: blocks before it may be cached across sessions, blocks after it are
 * not.
 */
export const SYSTEM_PROMPT_DYNAMIC_BOUNDARY = '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__';

/** The reasons a `SessionEnd` hook can receive. */
export const EXIT_REASONS = ['clear', 'resume', 'logout', 'prompt_input_exit', 'other'] as const;
