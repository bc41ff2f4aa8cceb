import { expect, test } from 'vitest';
import { readSettings } from '../../../src/host/launch/read-settings.ts';

const SECRET = 'hush-hush';

test('everything that is used', () => {
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
  };
  expect(readSettings(raw, 'here', 'policySettings')).toEqual({
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
    },
    faults: [],
    notes: [],
  });
});

test('keys that are not used are told, with what was likely meant', () => {
  const raw = { apiKeyHelper: SECRET, permission: {}, permissions: { alow: ['Read'] } };
  expect(readSettings(raw, 'f.json', 'cliArg').notes).toEqual([
    'f.json: "apiKeyHelper" is not used',
    'f.json: "permission" is not used; did you mean "permissions"?',
    'f.json: "permissions.alow" is not used; did you mean "permissions.allow"?',
  ]);
});

test.each([
  [[], 'f must hold a JSON object'],
  [{ permissions: SECRET }, 'f: "permissions" must be an object'],
  [{ permissions: { deny: SECRET } }, 'f: "permissions.deny" must be a list of texts'],
  [
    { permissions: { additionalDirectories: [1] } },
    'f: "permissions.additionalDirectories" must be a list of texts',
  ],
  [
    { permissions: { defaultMode: SECRET } },
    'f: "permissions.defaultMode" is one of default, acceptEdits, bypassPermissions, plan, dontAsk, auto',
  ],
  [{ env: { TOKEN: [SECRET] } }, 'f: "env" must map names to texts'],
  [{ model: 1 }, 'f: "model" must be a text'],
  [{ hooks: SECRET }, 'f: "hooks" must be an object of lists'],
  [
    { sandbox: { enabled: true } },
    'f: there is no sandbox for "sandbox.enabled": run the agent in a container instead',
  ],
])('%j is a fault', (raw, fault) => {
  expect(readSettings(raw, 'f', 'cliArg').faults).toEqual([fault]);
});

test.each(['ask', 'deny'] as const)('an %s rule that cannot be read is a fault', (effect) => {
  const { faults, notes } = readSettings({ permissions: { [effect]: ['WebFetch(x)'] } }, 'f', 'cliArg');
  expect(faults).toEqual([expect.stringContaining('WebFetch takes no pattern')]);
  expect(notes).toEqual([]);
});

test('an allow rule that cannot be read is told, and allows nothing', () => {
  const { settings, faults, notes } = readSettings({ permissions: { allow: ['*'] } }, 'f', 'cliArg');
  expect({ rules: settings.rules, faults }).toEqual({ rules: [], faults: [] });
  expect(notes).toEqual([expect.stringMatching(/^f: rule "\*" would allow .*; it allows nothing$/)]);
});

test.each(['allow', 'ask', 'deny'] as const)('an %s rule about no known tool is kept and told', (effect) => {
  const { settings, notes } = readSettings({ permissions: { [effect]: ['Bsh', 'WebFetch'] } }, 'f', 'cliArg');
  expect(settings.rules.map(({ tool }) => tool)).toEqual(['Bsh', 'WebFetch']);
  expect(notes).toEqual(['f: rule "Bsh" is about no tool there is; did you mean "Bash"?']);
});
