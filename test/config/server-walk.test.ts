import { expect, test } from 'vitest';
import { createHost } from '../../src/entry/host.ts';
import { fixture } from '../support/fixture-server.ts';
import { foldersOf, listedSteps, stackOfWrite } from '../support/source-walk.ts';

test('a connection goes from the managed server to the transport, through each folder once', async () => {
  await using host = createHost({ mcpServers: { fix: fixture() } });
  const files = await stackOfWrite('"method":"', () => host.ready({ servers: ['fix'] }));
  const fromServer = files.slice(files.indexOf('mcp/servers/open-server.ts'));
  expect(foldersOf(fromServer)).toEqual(['mcp/servers', 'mcp/connection', 'mcp/transports']);
  expect(fromServer.length).toBeLessThanOrEqual(12);
});

test('ARCHITECTURE.md lists at most 18 functions from a file to a connection, and each exists', () => {
  const { steps, missing } = listedSteps('A configured server');
  expect(steps.length).toBeGreaterThan(10);
  expect(steps.length).toBeLessThanOrEqual(18);
  expect(missing).toEqual([]);
});
