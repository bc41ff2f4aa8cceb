// List what servers offer and call a tool, without an agent or model. Offline, with a temporary home directory.
import assert from 'node:assert/strict';
import { serve } from './servers/start.ts';
import { Shell } from './shell.ts';

using shell = new Shell();
shell.write('servers.json', {
  mcpServers: {
    docs: serve('docs.ts'),
    deploy: serve('deploy.ts'),
    library: serve('library.ts'),
    broken: { command: 'no-such-command' },
  },
});

const servers = ['--mcp-config', 'servers.json'];
shell.run('tools', ...servers);
shell.run('tools', ...servers, '-s', 'deploy', '--search', 'release a service', '--limit', '1');
shell.run('call', ...servers, 'docs', 'search', 'query=how to deploy');
shell.run('call', ...servers, 'docs', 'search', 'qery=5');
shell.run('resources', ...servers, 'read', 'library', 'library://hours');
shell.run('prompts', ...servers, 'get', 'library', 'recommend', 'about=whales');

assert.deepEqual(shell.codes, [1, 0, 0, 2, 0, 0]);
