import { expect, test } from 'vitest';
import { formatKeyPath } from '../../../src/config/files/diagnostics.ts';
import { readSettings } from '../../../src/config/settings/read-settings.ts';

const SECRET = 'hush-hush';

function read(raw: Record<string, unknown>, scope: 'program' | 'managed' = 'program') {
  const { settings, faults, elsewhere } = readSettings(raw, scope);
  const texts = (wanted: string) =>
    faults
      .filter(({ level }) => level === wanted)
      .map(({ path, message }) => `${formatKeyPath(path)} ${message}`);
  return { settings, errors: texts('error'), warnings: texts('warning'), elsewhere };
}

test('reads every setting', () => {
  const raw = {
    $schema: 'x',
    permissions: {
      allow: ['Read'],
      ask: ['Edit'],
      deny: ['Bash(rm:*)'],
      defaultMode: 'plan',
      additionalDirectories: ['/more'],
      disableBypassPermissionsMode: 'disable',
    },
    hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
    env: { A: 'b' },
    model: 'm',
    sandbox: { enabled: false },
    timeouts: { callMs: 5 },
    serverSettings: { s: { trust: true, toolTimeoutsMs: { slow: 1 } } },
  };
  expect(read(raw, 'managed')).toEqual({
    settings: {
      rules: [
        { tool: 'Read', effect: 'allow', source: 'policySettings' },
        { tool: 'Edit', effect: 'ask', source: 'policySettings' },
        { tool: 'Bash', content: 'rm:*', effect: 'deny', source: 'policySettings' },
      ],
      defaultMode: 'plan',
      forbidsBypass: true,
      directories: ['/more'],
      hooks: [{ event: 'Stop', target: { kind: 'command', command: 'true' } }],
      env: { A: 'b' },
      model: 'm',
      timeouts: { callMs: 5 },
      servers: [{ name: 's', members: { trust: true, toolTimeoutsMs: { slow: 1 } } }],
    },
    errors: [],
    warnings: [],
    elsewhere: [],
  });
});

test('warns about unused keys, with suggestions', () => {
  const raw = { apiKeyHelper: SECRET, permission: {}, permissions: { alow: ['Read'] } };
  expect(read(raw)).toMatchObject({
    warnings: [
      'permission is not a known key; did you mean "permissions"?',
      'permissions.alow is not a known key; did you mean "permissions.allow"?',
    ],
    elsewhere: ['apiKeyHelper'],
  });
});

test.each<[Record<string, unknown>, string]>([
  [{ permissions: SECRET }, 'permissions must be an object'],
  [{ permissions: { deny: SECRET } }, 'permissions.deny must be a list of strings'],
  [{ permissions: { additionalDirectories: [1] } }, 'permissions.additionalDirectories[0] must be a string'],
  [
    { permissions: { disableBypassPermissionsMode: true } },
    'permissions.disableBypassPermissionsMode must be "disable" or left out',
  ],
  [
    { permissions: { defaultMode: SECRET } },
    'permissions.defaultMode must be one of default, acceptEdits, bypassPermissions, plan, dontAsk, auto',
  ],
  [{ env: { TOKEN: [SECRET] } }, 'env.TOKEN must be a string'],
  [{ env: [SECRET] }, 'env must map names to strings'],
  [{ timeouts: { callMs: 0 } }, 'timeouts.callMs must be a number of milliseconds above 0'],
  [{ model: 1 }, 'model must be a string'],
  [{ hooks: SECRET }, 'hooks must be an object that maps event names to lists'],
  [
    { sandbox: { enabled: true } },
    'sandbox.enabled "sandbox.enabled" is not supported: run the agent in a container instead',
  ],
])('reports %j without its value', (raw, fault) => {
  expect(read(raw).errors).toEqual([fault]);
});

test.each(['ask', 'deny'] as const)('an %s rule that cannot be read is an error', (effect) => {
  const { errors, warnings } = read({ permissions: { [effect]: ['WebFetch(x)'] } });
  expect(errors).toEqual([expect.stringContaining('rules for web pages name the host')]);
  expect(warnings).toEqual([]);
});

test('warns about an invalid allow rule, which allows nothing', () => {
  const { settings, errors, warnings } = read({ permissions: { allow: ['*'] } });
  expect({ rules: settings.rules, errors }).toEqual({ rules: [], errors: [] });
  expect(warnings).toEqual([expect.stringMatching(/rule "\*" would allow .*; the rule allows nothing$/)]);
});

test.each(['allow', 'ask', 'deny'] as const)('an %s rule about no known tool is kept and told', (effect) => {
  const { settings, warnings } = read({ permissions: { [effect]: ['Bsh', 'WebFetch'] } });
  expect(settings.rules.map(({ tool }) => tool)).toEqual(['Bsh', 'WebFetch']);
  expect(warnings).toEqual([
    `permissions.${effect}[0] rule "Bsh" names an unknown tool; did you mean "Bash"?`,
  ]);
});

test('escapes control characters in server names', () => {
  const { warnings } = read({ serverSettings: { 'a\u001b[2J\u009b': { disable: true } } });
  expect(warnings).toEqual([expect.stringMatching(/^[\x20-\x7e]+did you mean [\x20-\x7e]+\.disabled"\?$/)]);
});

test.each([
  [{ issuer: 'https://idp.example', clientId: 'app' }, []],
  [{ issuer: 'http://127.0.0.1:8080', clientId: 'app', callbackPort: 8123 }, []],
  [{ issuer: 'http://idp.example', clientId: 'app' }, ['xaaIdp.issuer']],
  [{ issuer: 'https://idp.example' }, ['xaaIdp.clientId']],
  [{ issuer: 'https://idp.example', clientId: 'app', callbackPort: 0 }, ['xaaIdp.callbackPort']],
])('the identity provider %j is read or reported', (xaaIdp, faulty) => {
  const { settings, errors } = read({ xaaIdp }, 'managed');
  expect(errors.map((text) => text.split(' ')[0])).toEqual(faulty);
  if (faulty.length === 0) expect(settings.xaaIdp).toEqual(xaaIdp);
});

test('a project, a local file or a flag cannot set the identity provider', () => {
  const { settings, warnings } = read({ xaaIdp: { issuer: 'https://evil.example', clientId: 'app' } });
  expect(settings.xaaIdp).toBeUndefined();
  expect(warnings[0]).toContain('xaaIdp');
});
