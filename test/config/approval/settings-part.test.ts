import { expect, test } from 'vitest';
import { approvablePart } from '../../../src/config/approval/settings-part.ts';

test.each([
  ['nothing', {}, undefined],
  ['what says what the file is', { version: 1, $schema: 'x', mcpServers: { a: {} } }, undefined],
  ['deny and ask rules', { permissions: { deny: ['Bash'], ask: ['Read'] } }, undefined],
  ['less bypassing', { permissions: { disableBypassPermissionsMode: 'disable' } }, undefined],
  ['an allow rule', { permissions: { deny: ['A'], allow: ['B'] } }, { permissions: { allow: ['B'] } }],
  ['a mode', { permissions: { defaultMode: 'plan' } }, { permissions: { defaultMode: 'plan' } }],
  ['hooks and env', { hooks: {}, env: {} }, { hooks: {}, env: {} }],
  ['servers turned off', { serverSettings: { a: { disabled: true, excludeTools: ['x'] } } }, undefined],
  [
    'servers turned on, or trusted',
    { serverSettings: { a: { disabled: false, excludeTools: [] }, b: { disabled: true, trust: true } } },
    { serverSettings: { a: { disabled: false }, b: { trust: true } } },
  ],
  ['what nobody knows', { other: 1 }, { other: 1 }],
  ['odd shapes', { permissions: 1, serverSettings: [1] }, { permissions: 1, serverSettings: [1] }],
])('%s', (_, value, part) => {
  expect(approvablePart(value)).toEqual(part);
});
