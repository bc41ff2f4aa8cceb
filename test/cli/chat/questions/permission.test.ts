import { expect, test } from 'vitest';
import { askPermission, type PermissionRequest } from '../../../../src/cli/chat/questions/permission.ts';
import type { PermissionUpdate } from '../../../../src/protocol/permission.ts';
import { answering } from '../support/asked.ts';

const request = (context: Partial<PermissionRequest['context']> = {}, input = {}): PermissionRequest => ({
  tool: 'mcp__docs__search',
  input,
  context: { toolUseID: 't1', requestId: 'r1', ...context },
  annotations: [],
});

test.each([['y'], ['yes'], [' Y ']])('%j allows it once', async (typed) => {
  expect(await askPermission(request(), answering(typed))).toEqual({
    result: { behavior: 'allow' },
    verdict: { behavior: 'allow', by: 'you', how: 'once' },
  });
});

test('"always" without a suggestion adds a rule for this tool in this session', async () => {
  const person = answering('a');
  expect((await askPermission(request(), person)).result).toEqual({
    behavior: 'allow',
    updatedPermissions: [
      {
        type: 'addRules',
        rules: [{ toolName: 'mcp__docs__search' }],
        behavior: 'allow',
        destination: 'session',
      },
    ],
  });
  expect(person.shown.join('\n')).toContain('a always: allow mcp__docs__search for this conversation');
});

test.each([[{ suppressAlwaysAllowRule: true }], [{ serverPolicyAskOnly: true }]])(
  '"always" is neither offered nor accepted with %j',
  async (context) => {
    const person = answering('a', 'y');
    expect((await askPermission(request(context), person)).result).toEqual({ behavior: 'allow' });
    expect(person.shown.join('\n')).not.toContain('always');
  },
);

test.each([
  ['n', 'The user denied the call.'],
  ['no', 'The user denied the call.'],
  ['n  not on a Friday ', 'not on a Friday'],
])('%j denies it', async (typed, message) => {
  expect(await askPermission(request(), answering(typed))).toEqual({
    result: { behavior: 'deny', message },
    verdict: { behavior: 'deny', by: 'you', reason: message },
  });
});

test.each([[''], ['yolo'], ['ay'], ['allow']])('%j is not an answer and asks again', async (typed) => {
  const person = answering(typed, 'n');
  expect((await askPermission(request(), person)).result.behavior).toBe('deny');
  expect(person.shown.filter((it) => it === 'allow? ')).toHaveLength(2);
});

test.each([
  ['interrupted', 'you'],
  ['ended', 'you'],
  ['withdrawn', 'withdrawn'],
] as const)('a question that was %s is a no', async (end, by) => {
  const { result, verdict } = await askPermission(request(), answering(end));
  expect([result.behavior, verdict.by]).toEqual(['deny', by]);
});

test.each([
  ['Sure, go on', '  "Sure, go on" was not understood.'],
  ['', '  An answer is required.'],
])('the answer %j is not understood, and the choices are repeated', async (typed, shown) => {
  const person = answering(typed, 'n');
  await askPermission(request(), person);
  const at = person.shown.indexOf('allow? ');
  expect(person.shown.slice(at + 1, at + 3)).toEqual([shown, '  y yes, once']);
});

test('the channels that may answer too are named', async () => {
  const person = answering('y');
  await askPermission(request({ relayedTo: ['chat', 'phone'] }), person);
  expect(person.shown).toContain('  also asked: channels chat, phone');
});

test('a long input is truncated with a note and can be shown whole', async () => {
  const input = { lines: Array.from({ length: 40 }, (_, n) => `line ${n}`) };
  const person = answering('v', 'n');
  await askPermission(request({}, input), person);
  const first = person.shown.slice(0, person.shown.indexOf('allow? '));
  expect(first.join('\n')).toMatch(/line 12[\s\S]*… 29 more lines; enter v to show all/);
  expect(first.join('\n')).not.toContain('line 30');
  expect(person.shown.join('\n')).toContain('line 39');
});

test('shows the server, the annotations and the reason of the question', async () => {
  const person = answering('n');
  const context = {
    mcpServer: { name: 'docs', source: 'project' },
    decisionReason: 'no rule',
    description: 'Searches',
  };
  await askPermission({ ...request(context), annotations: ['read-only'] }, person);
  expect(person.shown.slice(0, 5)).toEqual([
    '? Approval required: mcp__docs__search of server docs (from this project)',
    '  Searches',
    '  {}',
    '  annotations: read-only',
    '  reason: no rule',
  ]);
});

test.each([
  ['dynamic', ''],
  ['sdk', ' (in this program)'],
  ['user', ' (from your settings)'],
  ['constructor', ' (constructor)'],
])('a server from %s', async (source, words) => {
  const person = answering('n');
  await askPermission(request({ mcpServer: { name: 'docs', source } }), person);
  expect(person.shown[0]).toBe(`? Approval required: mcp__docs__search of server docs${words}`);
});

test.each<[PermissionUpdate, string]>([
  [
    { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
    'set mode acceptEdits for this conversation',
  ],
  [
    {
      type: 'addRules',
      rules: [{ toolName: 'Bash', ruleContent: 'ls' }],
      behavior: 'allow',
      destination: 'session',
    },
    'allow Bash(ls) for this conversation',
  ],
])('"always" states what %j changes and for how long', async (suggestion, words) => {
  const person = answering('n');
  await askPermission(request({ suggestions: [suggestion] }), person);
  expect(person.shown).toContain(`  a always: ${words}`);
  expect(person.shown).not.toContain('  s yes, for this session');
});

const LOCAL: PermissionUpdate = {
  type: 'addRules',
  rules: [{ toolName: 'Bash', ruleContent: 'ls' }],
  behavior: 'allow',
  destination: 'localSettings',
};

test.each<[PermissionUpdate, string]>([
  [LOCAL, 'allow Bash(ls), saved in .toolplane/settings.local.json'],
  [{ ...LOCAL, destination: 'projectSettings' }, 'allow Bash(ls), saved in .toolplane/settings.json'],
  [
    { type: 'addDirectories', directories: ['/x'], destination: 'userSettings' },
    'allow access to /x, saved in ~/.toolplane/settings.json',
  ],
])('a persistent rule is also offered for the session only: %j', async (suggestion, words) => {
  const person = answering('n');
  await askPermission(request({ suggestions: [suggestion] }), person);
  expect(person.shown).toContain(`  a always: ${words}`);
});

test.each([
  ['a', 'always', LOCAL],
  ['always', 'always', LOCAL],
  ['s', 'for this session', { ...LOCAL, destination: 'session' }],
  ['Session', 'for this session', { ...LOCAL, destination: 'session' }],
])('%j allows it %s', async (typed, how, update) => {
  expect(await askPermission(request({ suggestions: [LOCAL] }), answering(typed))).toEqual({
    result: { behavior: 'allow', updatedPermissions: [update] },
    verdict: { behavior: 'allow', by: 'you', how },
  });
});

test('"s" is not offered if "always" applies to the session only', async () => {
  const person = answering('s', 'y');
  expect((await askPermission(request(), person)).verdict).toMatchObject({ how: 'once' });
  expect(person.shown.join('\n')).not.toContain('for this session');
});

test('for a changed tool, yes accepts the change and "always" is not offered', async () => {
  const person = answering('a', 'y');
  const change = { toolChange: { server: 'docs', tool: 'search' }, decisionReason: 'it changed' };
  expect((await askPermission(request(change), person)).result).toEqual({ behavior: 'allow' });
  expect(person.shown).toContain('  reason: it changed');
  expect(person.shown).toContain('  y yes, and accept the changed definition');
  expect(person.shown.join('\n')).not.toContain('always');
});

test('a rule for the prefix of a command is offered and saved where "always" is', async () => {
  const person = answering('p');
  const suggestion: PermissionUpdate = {
    ...LOCAL,
    rules: [{ toolName: 'Bash', ruleContent: 'git log --oneline' }],
  };
  const asked = {
    ...request({ suggestions: [suggestion] }),
    tool: 'Bash',
    input: { command: 'git log --oneline' },
  };
  const { result } = await askPermission(asked, person);
  expect(person.shown).toContain(
    '  p always with this prefix: allow Bash(git log:*), saved in .toolplane/settings.local.json',
  );
  expect(result).toMatchObject({
    behavior: 'allow',
    updatedPermissions: [{ ...LOCAL, rules: [{ toolName: 'Bash', ruleContent: 'git log:*' }] }],
  });
});
