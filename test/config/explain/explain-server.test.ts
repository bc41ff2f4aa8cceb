import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decideServers, trustDirectory } from '../../../src/config/approval/approval-store.ts';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { explainServer } from '../../../src/config/explain/explain-server.ts';
import type { ServerStatus } from '../../../src/mcp/servers/server-status.ts';
import { type ConfigPlace, configPlace } from '../config-place.ts';

const node = (script: string) => ({ command: 'node', args: [script] });
const lookup = { variable: () => undefined, secret: () => undefined };

async function approve(place: ConfigPlace): Promise<void> {
  const { sources } = await readConfiguration(place.world());
  const written = sources
    .filter(({ scope }) => scope === 'project' || scope === 'local')
    .flatMap((it) => it.servers);
  decideServers(place.home, written, 'approved');
}

function three(): ConfigPlace {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), { mcpServers: { x: node('user.js') } });
  place.write(join(place.project, '.mcp.json'), { mcpServers: { x: node('project.js') } });
  place.write(join(place.project, '.toolplane/settings.local.json'), { mcpServers: { x: node('local.js') } });
  return place;
}

test('lists every source by precedence, the active entry, and why the others are ignored (R166)', async () => {
  const place = three();
  await approve(place);
  const told = explainServer(await readConfiguration(place.world()), 'x');
  expect(told).toMatchObject({
    status: 'usable',
    verdict: 'ready',
    winner: { scope: 'local', line: 3, column: 5 },
  });
  expect(
    told.sources.filter(({ state }) => state === 'read').map(({ scope, has, says }) => [scope, has, says]),
  ).toEqual([
    ['local', 'winner', 'active'],
    ['project', 'lost', 'shadowed by local'],
    ['user', 'lost', 'shadowed by local'],
  ]);
  expect(told.lost.map(({ scope, why }) => [scope, why])).toEqual([
    ['project', 'shadowed'],
    ['user', 'shadowed'],
  ]);
  expect(told.entry).toEqual(node('local.js'));
  expect(told.next).toContain(
    'to use the entry in .mcp.json:3:5 instead: toolplane mcp remove x --scope local',
  );
});

test('an entry that is not approved does not shadow others, and the next step approves it (R169, C18)', async () => {
  const place = three();
  const told = explainServer(await readConfiguration(place.world()), 'x');
  expect(told).toMatchObject({ status: 'usable', winner: { scope: 'user' } });
  expect(told.answer).toContain('are pending your approval');
  expect(told.next.some((step) => step.endsWith('toolplane mcp approve x'))).toBe(true);
});

test('distinguishes a changed entry from a new one, with the hash of its content', async () => {
  const place = configPlace();
  const path = place.write(join(place.project, '.mcp.json'), { mcpServers: { x: node('a.js') } });
  const before = explainServer(await readConfiguration(place.world()), 'x');
  await approve(place);
  place.write(path, { mcpServers: { x: node('b.js') } });
  const after = explainServer(await readConfiguration(place.world()), 'x');
  expect([before.approval.choice, after.approval.choice]).toEqual(['new', 'changed']);
  expect(after.approval.hash).toMatch(/^[0-9a-f]{64}$/);
  expect(after.approval.hash).not.toBe(before.approval.hash);
  expect(after).toMatchObject({ status: 'unusable', verdict: 'pending' });
});

test('in a trusted repository nothing is pending, and a rejection still applies', async () => {
  const place = configPlace();
  place.write(join(place.project, '.mcp.json'), { mcpServers: { x: node('a.js'), y: node('b.js') } });
  const { sources } = await readConfiguration(place.world());
  trustDirectory(place.home, place.project);
  decideServers(
    place.home,
    sources.flatMap((it) => it.servers).filter(({ name }) => name === 'y'),
    'rejected',
  );
  const configuration = await readConfiguration(place.world());
  expect(explainServer(configuration, 'x').approval).toMatchObject({ choice: 'trusted' });
  expect(explainServer(configuration, 'y')).toMatchObject({
    verdict: 'rejected',
    approval: { choice: 'rejected' },
  });
});

test('names a missing variable and its place, and shows no values', async () => {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), {
    mcpServers: {
      x: {
        url: 'https://x.example',
        headers: { A: 'Bearer ${API_TOKEN}', B: '${SET}', C: '${REGION}', D: '${secret:s}' },
      },
    },
  });
  const known = {
    variable: (name: string) => (name === 'SET' ? 'very-secret' : undefined),
    secret: () => undefined,
  };
  const told = explainServer(await readConfiguration(place.world()), 'x', { lookup: known });
  expect(told.expansion).toEqual([
    { where: 'headers.A', reference: '${API_TOKEN}', from: 'missing' },
    { where: 'headers.B', reference: '${SET}', from: 'value' },
    { where: 'headers.C', reference: '${REGION}', from: 'missing' },
    { where: 'headers.D', reference: '${secret:s}', from: 'missing' },
  ]);
  expect(told).toMatchObject({ status: 'unusable', verdict: 'ready' });
  expect(told.next).toEqual([
    'set the variable in this shell: export API_TOKEN=…',
    expect.stringContaining(
      'toolplane secret set API_TOKEN, and replace "${API_TOKEN}" by "${secret:API_TOKEN}" in headers.A',
    ),
    'set the variable in this shell: export REGION=…',
    expect.stringContaining('or replace "${REGION}" by "${REGION:-…}", which has a default, in headers.C'),
    'set the secret: toolplane secret set s',
  ]);
  expect(JSON.stringify(told)).not.toContain('very-secret');
});

test('reports a resolved entry that policy forbids, before connecting', async () => {
  const place = configPlace();
  place.write(join(place.managed, 'managed-settings.json'), {
    deniedMcpServers: [{ serverUrl: 'https://bad.example/*' }],
  });
  place.write(join(place.home, 'settings.json'), {
    mcpServers: { x: { type: 'http', url: 'https://${WHERE}/mcp' } },
  });
  const known = { ...lookup, variable: () => 'bad.example' };
  const told = explainServer(await readConfiguration(place.world()), 'x', { lookup: known });
  expect(told).toMatchObject({ status: 'unusable', verdict: 'ready' });
  expect(told.answer).toContain(
    'with the values of its variables, the entry is forbidden by deniedMcpServers[0] of ',
  );
});

test.each([
  ['broken', { mcpServers: { x: { command: 7 } } }, 'fix the entry at '],
  [
    'disabled',
    { mcpServers: { x: { ...node('a.js'), enabled: false } } },
    'remove "enabled" from the entry at ',
  ],
  [
    'disabled',
    { mcpServers: { x: node('a.js') }, serverSettings: { x: { disabled: true } } },
    'remove "disabled" of serverSettings.x in ',
  ],
])('the next step of a server that is %s is an edit with its location', async (verdict, settings, step) => {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), settings);
  const told = explainServer(await readConfiguration(place.world()), 'x', { lookup });
  expect(told).toMatchObject({ verdict, status: 'unusable' });
  expect(told.next[0]).toMatch(new RegExp(`^${step}.*settings\\.json:\\d+:\\d+(, or remove it: .*)?$`));
});

test('an unknown name gets a suggestion, and unreadable files are listed', async () => {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), { mcpServers: { GitHub: node('a.js') } });
  place.write(join(place.project, '.mcp.json'), '{ "mcpServers": { "y": 1 "z": 2 } }');
  const configuration = await readConfiguration(place.world());
  expect(explainServer(configuration, 'github')).toMatchObject({
    status: 'unknown',
    answer: 'Unknown server "github"; did you mean "GitHub"?',
  });
  const other = explainServer(configuration, 'something-else');
  expect(other.answer).toMatch(
    /^Unknown server "something-else"; it may be in a file that is invalid or cannot be read: .mcp.json:1:\d+: /,
  );
  expect(other.sources.find(({ label }) => label === '.mcp.json')).toMatchObject({
    state: 'unusable',
    line: 1,
    says: 'is invalid or cannot be read, and is ignored',
  });
});

const status = (more: Partial<ServerStatus>): ServerStatus => ({
  state: 'failed',
  since: 0,
  attempt: 1,
  stderr: [],
  ...more,
});
const failed = (code: 'unauthorized' | 'spawn-failed' | 'timeout' | 'unreachable'): ServerStatus =>
  status({ cause: { code, message: `MCP server "x": it went wrong`, detail: 'it went wrong' } });

test.each([
  ['connected', status({ state: 'connected', tools: 2, era: 'legacy' }), 'usable', undefined],
  ['unauthorized', failed('unauthorized'), 'unusable', /^toolplane mcp login x$/],
  [
    'spawn-failed',
    failed('spawn-failed'),
    'unusable',
    /limited environment; .* cd \S*\/servers\/x && env -i HOME="\$HOME" PATH="\$PATH" node a\.js$/,
  ],
  ['timeout', failed('timeout'), 'unusable', /serverSettings\.x\.connectTimeoutMs/],
  ['unreachable', failed('unreachable'), 'unusable', /^check "url"/],
])('the next step after connecting: %s', async (_, live, status, step) => {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), { mcpServers: { x: node('a.js') } });
  const told = explainServer(await readConfiguration(place.world()), 'x', { lookup, status: live });
  expect(told).toMatchObject({ status, connection: { state: live.state } });
  if (step) {
    expect(told.next[0]).toMatch(step);
    expect(told.answer).toBe('"x" is not connected: it went wrong.');
  } else expect(told.next).toEqual([]);
});

test.each([
  [{}, 'user', /: cd \S*\/servers\/x && env -i HOME="\$HOME" PATH="\$PATH" node a\.js$/],
  [{}, 'local', /: env -i HOME="\$HOME" PATH="\$PATH" node a\.js$/],
  [{ cwd: '/opt' }, 'local', /: cd \/opt && env -i /],
  [{ cwd: '/opt' }, 'user', /: cd \/opt && env -i /],
  [{ cwd: '${TOOLPLANE_PROJECT_DIR}' }, 'user', /: env -i /],
  [{ inheritEnv: ['FOO'], env: { BAR: '${BAR}' } }, 'local', / FOO="\$FOO" BAR="\$\{BAR\}" node a\.js$/],
  [{ args: ['${TOOLPLANE_PROJECT_DIR}'] }, 'local', / node \/\S*$/],
] as const)(
  'the command to run a server by hand uses its directory and environment: %j of scope %s',
  async (more, scope, step) => {
    const place = configPlace();
    const path =
      scope === 'user'
        ? join(place.home, 'settings.json')
        : join(place.project, '.toolplane/settings.local.json');
    place.write(path, { mcpServers: { x: { ...node('a.js'), ...more } } });
    await approve(place);
    const known = { variable: () => 'v', secret: () => undefined };
    const told = explainServer(await readConfiguration(place.world()), 'x', {
      lookup: known,
      status: failed('spawn-failed'),
    });
    expect(told.next[0]).toMatch(step);
  },
);

test.each([
  [
    true,
    'add "env": { "A_KEY": "${A_KEY}" } at ~/.toolplane/settings.json:3:5 (the same as -e A_KEY=\'${A_KEY}\' of toolplane mcp add)',
  ],
  [
    false,
    'add "env": { "A_KEY": "…" } at ~/.toolplane/settings.json:3:5 (the same as -e A_KEY=… of toolplane mcp add)',
  ],
])('the next step for a missing environment variable is the edit, withheld: %s', async (isWithheld, step) => {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), { mcpServers: { x: node('/a.js') } });
  const missingVariable = { name: 'A_KEY', isWithheld };
  const live = status({
    cause: { code: 'spawn-failed', message: 'it ended', detail: 'it ended', missingVariable },
  });
  const told = explainServer(await readConfiguration(place.world()), 'x', { lookup, status: live });
  expect(told.next).toEqual([step]);
});

test('shows the policy rule that forbids a server, with its location', async () => {
  const place = configPlace();
  const path = join(place.managed, 'managed-settings.json');
  place.write(path, '{ "deniedMcpServers": [{ "serverName": "y" }, { "serverName": "x" }] }');
  place.write(join(place.home, 'settings.json'), { mcpServers: { x: node('a.js') } });
  expect(explainServer(await readConfiguration(place.world()), 'x')).toMatchObject({
    verdict: 'blocked',
    policy: { allows: false, says: `forbidden by deniedMcpServers[1] at ${path}:1:47: {"serverName":"x"}` },
  });
});

test('names the allow list that contains the server', async () => {
  const place = configPlace();
  const path = place.write(join(place.managed, 'managed-settings.json'), {
    allowedMcpServers: [{ serverName: 'x' }],
  });
  place.write(join(place.home, 'settings.json'), { mcpServers: { x: node('a.js'), y: node('b.js') } });
  const configuration = await readConfiguration(place.world());
  expect(explainServer(configuration, 'x').policy).toEqual({
    allows: true,
    says: `allowed by allowedMcpServers of ${path}`,
  });
  expect(explainServer(configuration, 'y').policy).toEqual({
    allows: false,
    says: `forbidden by allowedMcpServers of ${path}`,
  });
});

test('a managed file is the policy of the servers it excludes and of its own', async () => {
  const place = configPlace();
  const path = place.write(join(place.managed, 'managed-mcp.json'), { mcpServers: { own: node('a.js') } });
  place.write(join(place.home, 'settings.json'), { mcpServers: { x: node('a.js') } });
  const configuration = await readConfiguration(place.world());
  expect(explainServer(configuration, 'x').policy).toEqual({
    allows: false,
    says: `only servers in ${path} are started`,
  });
  expect(explainServer(configuration, 'own').policy).toEqual({
    allows: true,
    says: `the entry is in ${path}`,
  });
});
