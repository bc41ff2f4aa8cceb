// Configured servers: add, list, approve, explain and remove them. Offline, with a temporary home directory.
import assert from 'node:assert/strict';
import { serve } from './servers/start.ts';
import { Shell } from './shell.ts';

using shell = new Shell('shop');
shell.install('docs-server', serve('docs.ts'));
shell.install('deploy-server', serve('deploy.ts'));
// The team's file comes with the repository and is not approved on this machine yet.
shell.write('.mcp.json', { mcpServers: { deploy: { command: 'deploy-server' } } });

shell.run('mcp', 'add', 'docs', '--', 'docs-server');
const header = 'Authorization: Bearer ${TICKETS}';
shell.run('mcp', 'add', '--scope', 'user', 'tickets', 'https://tickets.example/mcp', '-H', header);
shell.run('mcp', 'list', '--no-connect');
shell.run('call', 'docs', 'search', 'query=deploy');
shell.run('call', 'deploy', 'status');
shell.run('mcp', 'approve', 'deploy');
shell.run('call', 'deploy', 'status');
shell.run('explain', 'server', 'tickets', '--no-connect');
shell.run('mcp', 'remove', 'tickets');
shell.run('mcp', 'aprove', 'docs');

assert.deepEqual(shell.codes, [0, 0, 1, 0, 1, 0, 0, 1, 0, 2]);
