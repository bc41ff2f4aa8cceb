/** The official package, for tests that stand outside this folder. */
export * as official from '@anthropic-ai/claude-agent-sdk';
