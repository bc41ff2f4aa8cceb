import { failedOutcome } from '../loop/run-calls.ts';
import { type ConnectOutcome, defineBuiltIn } from './built-in.ts';

const MAX_NAMES = 100;

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
  async run({ name }, context, signal) {
    const outcome = await context.connect(name, signal);
    switch (outcome.kind) {
      case 'connected':
        return succeeded(`Connected to '${name}'. Discovered: ${discovered(outcome)}`);
      case 'already-connected':
        return succeeded(`MCP server '${name}' already connected`);
      case 'unknown':
        return failedOutcome(`Unknown server '${name}'. Available: ${listed(outcome.available)}`);
      case 'failed':
        return failedOutcome(`Could not connect to '${name}': ${outcome.fault}`);
    }
  },
});

/** Names up to `MAX_NAMES` tools of a server. */
function discovered({ tools, searchable = 0 }: Extract<ConnectOutcome, { kind: 'connected' }>): string {
  const more = tools.length - MAX_NAMES;
  const named = more > 0 ? `${listed(tools.slice(0, MAX_NAMES))} and ${more} more` : listed(tools);
  return searchable > 0 ? `${named}. Use ToolSearch to find and load the tools` : named;
}

function listed(names: readonly string[]): string {
  return names.join(', ') || '(none)';
}

function succeeded(content: string) {
  return { content, isError: false };
}
