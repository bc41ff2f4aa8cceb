import { expect, test } from 'vitest';
import { withPluginRoot } from '../../../../src/config/sources/plugins/plugin-root.ts';

test('the directory is put into every text of an entry, and nothing else is changed', () => {
  const entry = {
    command: '${CLAUDE_PLUGIN_ROOT}/run',
    args: ['--a', '${TOOLPLANE_PLUGIN_ROOT}/x:${TOOLPLANE_PLUGIN_ROOT}/y', '${HOME}'],
    env: { ROOT: '${CLAUDE_PLUGIN_ROOT}' },
    timeout: 5,
    literal: '$${CLAUDE_PLUGIN_ROOT}',
  };
  expect(withPluginRoot(entry, '/p')).toEqual({
    command: '/p/run',
    args: ['--a', '/p/x:/p/y', '${HOME}'],
    env: { ROOT: '/p' },
    timeout: 5,
    literal: '$${CLAUDE_PLUGIN_ROOT}',
  });
});

test.each([
  ['/a/${HOME}/b', '/a/$${HOME}/b/x'],
  ['/a/$&/b', '/a/$&/b/x'],
])('a directory that is called %s is meant literally', (directory, text) => {
  expect(withPluginRoot('${CLAUDE_PLUGIN_ROOT}/x', directory)).toBe(text);
});
