/** The official package, for tests outside this folder. */
export * as official from '@anthropic-ai/claude-agent-sdk';
