import { CLI, fixture } from './run-cli.ts';

const served = (name: string) => ({
  command: process.execPath,
  args: [CLI, 'serve', fixture('docs.ts'), '--export', name],
});

/** Two stdio servers for `--mcp-config`: one that reads, one that deploys. */
export const TWO_SERVERS: string = JSON.stringify({
  mcpServers: { docs: served('docs'), deploy: served('deploy') },
});
