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

test('commands in the order written, time-outs in seconds', () => {
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

test('none at all', () => {
  expect(read(undefined)).toEqual({ hooks: [], faults: [] });
});

const SHAPE = 'it must be { "type": "command", "command": text, "timeout": seconds }';

test.each([
  [[], '"hooks" it must be an object of lists'],
  [{ PreToolUs: [] }, '"hooks.PreToolUs" it is no event; did you mean "PreToolUse"?'],
  [{ Zzzzzzzz: [] }, '"hooks.Zzzzzzzz" it is no event'],
  [{ Stop: {} }, '"hooks.Stop" it must be a list'],
  [{ Stop: [{ hooks: [] }, { hook: [] }] }, '"hooks.Stop[1]" it must be { "matcher": text, "hooks": list }'],
  [{ Stop: [{ matcher: 1, hooks: [] }] }, '"hooks.Stop[0]" it must be { "matcher": text, "hooks": list }'],
  [{ Stop: [{ hooks: [{ type: 'prompt', prompt: 'x' }] }] }, `"hooks.Stop[0].hooks[0]" ${SHAPE}`],
  [{ Stop: [{ hooks: [command('a'), command('b', { timeout: 0 })] }] }, `"hooks.Stop[0].hooks[1]" ${SHAPE}`],
])('%j is a fault: a guard that is not understood would not guard', (raw, fault) => {
  expect(read(raw).faults).toEqual([fault]);
});

test('a matcher that is no usable expression is warned of, and its hooks are kept', () => {
  const { hooks, faults } = read({ PreToolUse: [{ matcher: '^(?!Bash)', hooks: [command('a')] }] });
  expect(hooks).toHaveLength(1);
  expect(faults).toEqual([
    '"hooks.PreToolUse[0].matcher" it is no regular expression that can be used (RE2 syntax): lookahead and lookbehind are not supported; its hooks run for every PreToolUse',
  ]);
});
