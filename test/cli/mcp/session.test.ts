import { expect, test } from 'vitest';
import { answering, catalogueServer } from '../../config/sources/catalogue-server.ts';
import { mcpPlace, userFile } from '../support/mcp-place.ts';
import { runCli } from '../support/run-cli.ts';

/** The connection is refused. */
const BODY = { mcpServers: { remote: { type: 'http', url: 'http://127.0.0.1:1/mcp' } } };

test.each([
  ['mcp list', ['mcp', 'list', '--json'], { servers: [{ name: 'remote', scope: 'connector' }] }],
  ['mcp get', ['mcp', 'get', 'remote', '--json'], { defined: { scope: 'connector' } }],
  ['mcp doctor', ['mcp', 'doctor', 'remote', '--json'], { servers: [{ name: 'remote' }] }],
  ['explain server', ['explain', 'server', 'remote', '--json'], { winner: { scope: 'connector' } }],
  ['tools', ['tools', '--json'], { servers: [{ name: 'remote', status: 'failed' }] }],
])('%s uses the current catalogue of a connector', async (_, args, document) => {
  const place = mcpPlace();
  const { url } = await catalogueServer(answering(BODY));
  place.write(userFile(place), { connectors: [{ url }] });
  const { stdout } = await runCli(args, '', { cwd: place.project, env: place.env });
  expect(JSON.parse(stdout)).toMatchObject(document);
});

test('reports a failed catalogue in one line and uses the cached one', async () => {
  const place = mcpPlace();
  let isWell = true;
  const { url } = await catalogueServer((request, response) => {
    if (isWell) answering(BODY)(request, response);
    else response.writeHead(500).end();
  });
  place.write(userFile(place), { connectors: [{ url }] });
  isWell = false;
  expect((await place.mcp('list')).stderr).toMatch(
    /HTTP 500; .*; no catalog is cached, so its servers are not/,
  );
  isWell = true;
  await place.mcp('list');
  isWell = false;
  const { stdout, stderr } = await place.mcp('list', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ servers: [{ name: 'remote' }] });
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(
      /^toolplane: http:\/\/127\.0\.0\.1:\d+\/.* the server answered with HTTP 500; .*; using the cached catalog$/,
    ),
  ]);
});

test('--no-connect fetches no catalogue', async () => {
  const place = mcpPlace();
  const { url, asked } = await catalogueServer(answering(BODY));
  place.write(userFile(place), { connectors: [{ url }] });
  expect((await place.mcp('list', '--no-connect', '--json')).code).toBe(0);
  expect(asked).toEqual([]);
});
