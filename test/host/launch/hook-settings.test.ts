import { expect, test } from 'vitest';
import { readHookSettings } from '../../../src/host/launch/hook-settings.ts';

const command = (text: string, more = {}) => ({ type: 'command', command: text, ...more });

test('commands in the order written, time-outs in seconds', () => {
  const raw = {
    PreToolUse: [
      { matcher: 'Bash|Edit', hooks: [command('one', { timeout: 1.5 }), command('two')] },
      { hooks: [command('three')] },
    ],
    Stop: [],
  };
  expect(readHookSettings(raw, 'f')).toEqual({
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
  expect(readHookSettings(undefined, 'f')).toEqual({ hooks: [], faults: [] });
});

const SHAPE = 'must be { "type": "command", "command": text, "timeout": seconds }';

test.each([
  [[], 'f: "hooks" must be an object of lists'],
  [{ PreToolUs: [] }, 'f: "hooks.PreToolUs" is no event; did you mean "PreToolUse"?'],
  [{ Zzzzzzzz: [] }, 'f: "hooks.Zzzzzzzz" is no event'],
  [{ Stop: {} }, 'f: "hooks.Stop" must be a list'],
  [{ Stop: [{ hooks: [] }, { hook: [] }] }, 'f: "hooks.Stop[1]" must be { "matcher": text, "hooks": list }'],
  [{ Stop: [{ matcher: 1, hooks: [] }] }, 'f: "hooks.Stop[0]" must be { "matcher": text, "hooks": list }'],
  [{ Stop: [{ hooks: [{ type: 'prompt', prompt: 'x' }] }] }, `f: "hooks.Stop[0].hooks[0]" ${SHAPE}`],
  [
    { Stop: [{ hooks: [command('a'), command('b', { timeout: 0 })] }] },
    `f: "hooks.Stop[0].hooks[1]" ${SHAPE}`,
  ],
])('%j is a fault: a guard that is not understood would not guard', (raw, fault) => {
  expect(readHookSettings(raw, 'f').faults).toEqual([fault]);
});
