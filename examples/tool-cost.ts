// Token cost of the tools of six published servers.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { Shell } from './shell.ts';

// This example uses the servers in interop/; in your project, write { command: 'npx', args: ['-y', '<package>'] }.
const peer = (path: string, ...args: readonly string[]) => ({
  command: process.execPath,
  args: [fileURLToPath(new URL(`../interop/node_modules/${path}`, import.meta.url)), ...args],
});

using shell = new Shell();
shell.write('servers.json', {
  mcpServers: {
    everything: peer('@modelcontextprotocol/server-everything/dist/index.js'),
    filesystem: peer('@modelcontextprotocol/server-filesystem/dist/index.js', shell.home),
    memory: peer('@modelcontextprotocol/server-memory/dist/index.js'),
    context7: peer('@upstash/context7-mcp/dist/index.js'),
    github: peer('@modelcontextprotocol/server-github/dist/index.js'),
    notion: peer('@notionhq/notion-mcp-server/bin/cli.mjs'),
  },
});
shell.run('tools', '--mcp-config', 'servers.json', '--cost');

assert.deepEqual(shell.codes, [0]);
