import { expect, test } from 'vitest';
import { formatKeyPath } from '../../../src/config/files/diagnostics.ts';
import { readHookSettings } from '../../../src/config/settings/hook-settings.ts';
import { SettingDiagnostics } from '../../../src/config/settings/setting-keys.ts';

function read(raw: unknown) {
  const faults = new SettingDiagnostics();
  const hooks = readHookSettings(raw, faults);
  return { hooks, faults: faults.all.map(({ path, message }) => `"${formatKeyPath(path)}" ${message}`) };
}

const command = (text: string, more = {}) => ({ type: 'command', command: text, ...more });

test('reads commands in order, with timeouts in seconds', () => {
  const raw = {
    PreToolUse: [
      { matcher: 'Bash|Edit', hooks: [command('one', { timeout: 1.5 }), command('two')] },
      { hooks: [command('three')] },
    ],
    Stop: [],
  };
  expect(read(raw)).toEqual({
    hooks: [
      {
        event: 'PreToolUse',
        matcher: 'Bash|Edit',
        timeoutMs: 1500,
        target: { kind: 'command', command: 'one' },
      },
      { event: 'PreToolUse', matcher: 'Bash|Edit', target: { kind: 'command', command: 'two' } },
      { event: 'PreToolUse', target: { kind: 'command', command: 'three' } },
    ],
    faults: [],
  });
});

test('no hooks', () => {
  expect(read(undefined)).toEqual({ hooks: [], faults: [] });
});

const SHAPE = 'must be { "type": "command", "command": string, "timeout": seconds }';

test.each([
  [[], '"hooks" must be an object that maps event names to lists'],
  [{ PreToolUs: [] }, '"hooks.PreToolUs" unknown event; did you mean "PreToolUse"?'],
  [{ Zzzzzzzz: [] }, '"hooks.Zzzzzzzz" unknown event'],
  [{ Stop: {} }, '"hooks.Stop" must be a list'],
  [{ Stop: [{ hooks: [] }, { hook: [] }] }, '"hooks.Stop[1]" must be { "matcher": string, "hooks": list }'],
  [{ Stop: [{ matcher: 1, hooks: [] }] }, '"hooks.Stop[0]" must be { "matcher": string, "hooks": list }'],
  [{ Stop: [{ hooks: [{ type: 'propmt', prompt: 'x' }] }] }, `"hooks.Stop[0].hooks[0]" ${SHAPE}`],
  [
    { Stop: [{ hooks: [{ type: 'prompt', prompt: 'x' }] }] },
    '"hooks.Stop[0].hooks[0]" hooks of type "prompt" are not supported, so this one does not run; use type "command"',
  ],
  [
    { Stop: [{ hooks: [command('a', { shell: 'powershell' })] }] },
    '"hooks.Stop[0].hooks[0]" "shell": "powershell" is not supported, so this hook does not run; start pwsh in "command"',
  ],
  [{ Stop: [{ hooks: [command('a', { args: ['x', 1] })] }] }, `"hooks.Stop[0].hooks[0]" ${SHAPE}`],
  [{ Stop: [{ hooks: [command('a', { onFailure: 'stop' })] }] }, `"hooks.Stop[0].hooks[0]" ${SHAPE}`],
  [{ Stop: [{ hooks: [command('a'), command('b', { timeout: 0 })] }] }, `"hooks.Stop[0].hooks[1]" ${SHAPE}`],
])('%j is an error, because it may be a guard', (raw, fault) => {
  expect(read(raw).faults).toEqual([fault]);
});

test('reads arguments, conditions, background commands and the consequence of a failure', () => {
  const hook = command('guard', { args: ['-x'], if: 'Bash(git *)', async: true, onFailure: 'continue' });
  expect(read({ PreToolUse: [{ hooks: [hook] }] })).toEqual({
    hooks: [
      {
        event: 'PreToolUse',
        condition: { tool: 'Bash', content: 'git *', effect: 'deny', source: 'userSettings' },
        onFailure: 'continue',
        target: { kind: 'command', command: 'guard', args: ['-x'], isBackground: true },
      },
    ],
    faults: [],
  });
});

test('a hook with an invalid condition always runs', () => {
  const { hooks, faults } = read({ PreToolUse: [{ hooks: [command('a', { if: 'Bash(' })] }] });
  expect(hooks).toEqual([{ event: 'PreToolUse', target: { kind: 'command', command: 'a' } }]);
  expect(faults).toEqual([expect.stringMatching(/hooks\[0\]\.if" .*the hook runs for every call$/)]);
});

test('warns about an event whose hooks never run', () => {
  const { hooks, faults } = read({ ConfigChange: [{ hooks: [command('a')] }] });
  expect(hooks).toHaveLength(1);
  expect(faults).toEqual([
    '"hooks.ConfigChange" Toolplane\'s agent does not support this event, so its hooks do not run',
  ]);
});

test('warns about an invalid matcher and keeps its hooks', () => {
  const { hooks, faults } = read({ PreToolUse: [{ matcher: '^(?!Bash)', hooks: [command('a')] }] });
  expect(hooks).toHaveLength(1);
  expect(faults).toEqual([
    '"hooks.PreToolUse[0].matcher" not a valid regular expression (RE2 syntax): lookahead and lookbehind are not supported; the hooks of this matcher run for every PreToolUse event',
  ]);
});
