import { failedOutcome } from '../agent/tool-call.ts';
import { defineBuiltIn } from './define.ts';

export const CONNECT_MCP = defineBuiltIn({
  name: 'connect_mcp',
  description:
    'Connects an MCP server that is configured but not connected yet. Its tools can be called from your next message on.',
  annotations: {
    title: 'Connect a server',
    readOnlyHint: false,
    destructiveHint: false,
    openWorldHint: true,
  },
  required: {
    name: { type: 'string', minLength: 1, description: "The server's name in the configuration." },
  },
  optional: {},
  async run({ name }, world, signal) {
    const outcome = await world.connect(name, signal);
    switch (outcome.kind) {
      case 'connected':
        return said(`Connected to '${name}'. Discovered: ${listed(outcome.tools)}`);
      case 'already-connected':
        return said(`MCP server '${name}' already connected`);
      case 'unknown':
        return failedOutcome(`Unknown server '${name}'. Available: ${listed(outcome.available)}`);
      case 'failed':
        return failedOutcome(`Could not connect to '${name}': ${outcome.fault}`);
    }
  },
});

function listed(names: readonly string[]): string {
  return names.join(', ') || '(none)';
}

function said(content: string) {
  return { content, isError: false };
}
