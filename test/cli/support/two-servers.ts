import { CLI } from '../../support/setup/built-package.ts';
import { fixture } from './run-cli.ts';

const served = (name: string, more: object = {}) => ({
  command: process.execPath,
  args: [CLI, 'serve', fixture('docs.ts'), '--export', name],
  ...more,
});

/** Two stdio servers for `--mcp-config`: one that reads, one that deploys. */
export const TWO_SERVERS: string = JSON.stringify({
  mcpServers: { docs: served('docs'), deploy: served('deploy') },
});

const ON_DEMAND = { start: 'on-demand' };

/** The same two as on-demand servers. */
export const TWO_WAITING: string = JSON.stringify({
  mcpServers: { docs: served('docs', ON_DEMAND), deploy: served('deploy', ON_DEMAND) },
});
