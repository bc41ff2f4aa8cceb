/** Stands alone in a list of system prompt blocks: what is before it may be cached across sessions, what is after it not. */
export const SYSTEM_PROMPT_DYNAMIC_BOUNDARY = '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__';

/** Why a session ended, as a `SessionEnd` hook is told. */
export const EXIT_REASONS = ['clear', 'resume', 'logout', 'prompt_input_exit', 'other'] as const;
