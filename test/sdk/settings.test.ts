import { expect, test } from 'vitest';
import type { Options } from '../../src/sdk/options.ts';
import { settingsText } from '../../src/sdk/settings.ts';

test.each<[string, Options, string | undefined]>([
  ['nothing', {}, undefined],
  ['an empty text', { settings: '' }, undefined],
  ['a path, as it is', { settings: './s.json' }, './s.json'],
  ['JSON text, as it is', { settings: '{ "a": 1 }' }, '{ "a": 1 }'],
  ['an object', { settings: { a: 1, gone: undefined } }, '{"a":1}'],
  ['an extra argument', { extraArgs: { settings: 'x' } }, 'x'],
  ['the option before the extra argument', { settings: { a: 1 }, extraArgs: { settings: 'x' } }, '{"a":1}'],
])('%s', (_, options, text) => {
  expect(settingsText(options)).toBe(text);
});

/** What becomes of the sandbox when the settings have one too. */
const MERGES: readonly (readonly [name: string, settings: object, option: object, merged: object])[] = [
  ['alone', {}, { enabled: false }, { enabled: false }],
  ['on: it must be there', {}, { enabled: true }, { enabled: true, failIfUnavailable: true }],
  [
    'on, and may be missing',
    {},
    { enabled: true, failIfUnavailable: false },
    { enabled: true, failIfUnavailable: false },
  ],
  [
    'on, and may be missing by the settings',
    { failIfUnavailable: false },
    { enabled: true },
    { failIfUnavailable: false, enabled: true },
  ],
  ['on by the settings only', { enabled: true }, { enabled: undefined }, { enabled: true }],
  [
    'members of the option replace',
    { enabled: true, a: 1 },
    { enabled: false, b: 2 },
    { enabled: false, a: 1, b: 2 },
  ],
  [
    'nested ones too',
    { network: { allowedDomains: ['a'], x: 1 } },
    { network: { x: 2 } },
    { network: { allowedDomains: ['a'], x: 2 } },
  ],
  [
    'an allow list replaces',
    { network: { allowedDomains: ['a'] } },
    { network: { allowedDomains: ['b'] } },
    { network: { allowedDomains: ['b'] } },
  ],
  [
    'deny lists are united',
    {
      network: { deniedDomains: ['a', 'b'] },
      filesystem: { denyRead: ['/a'], denyWrite: ['/w'], allowWrite: ['/x'] },
    },
    {
      network: { deniedDomains: ['b', 'c'] },
      filesystem: { denyRead: ['/b'], denyWrite: ['/w'], allowWrite: ['/y'] },
    },
    {
      network: { deniedDomains: ['a', 'b', 'c'] },
      filesystem: { denyRead: ['/a', '/b'], denyWrite: ['/w'], allowWrite: ['/y'] },
    },
  ],
  [
    'credentials of both sides',
    { credentials: { files: [{ path: '/a', mode: 'mask' }] } },
    { credentials: { files: [{ path: '/a', mode: 'deny' }] } },
    {
      credentials: {
        files: [
          { path: '/a', mode: 'mask' },
          { path: '/a', mode: 'deny' },
        ],
      },
    },
  ],
  [
    'ripgrep as a whole',
    { ripgrep: { command: 'a', args: [] } },
    { ripgrep: { command: 'b' } },
    { ripgrep: { command: 'b' } },
  ],
  [
    'a switch that turns the file rules off does not survive',
    { filesystem: { disabled: true, x: 1 } },
    { filesystem: { denyRead: ['/a'] } },
    { filesystem: { x: 1, denyRead: ['/a'] } },
  ],
  [
    'nor where files are denied as credentials',
    { filesystem: { disabled: true } },
    { credentials: { files: [{ path: '/a', mode: 'deny' }] } },
    { filesystem: {}, credentials: { files: [{ path: '/a', mode: 'deny' }] } },
  ],
  [
    'a proxy does not survive an allow list',
    { network: { httpProxyPort: 1, socksProxyPort: 2 } },
    { network: { allowedDomains: ['a'] } },
    { network: { allowedDomains: ['a'] } },
  ],
  [
    'unless the option sets it',
    { network: { httpProxyPort: 1 } },
    { network: { httpProxyPort: 3, allowedDomains: ['a'] } },
    { network: { httpProxyPort: 3, allowedDomains: ['a'] } },
  ],
  [
    'a proxy stays where nothing is restricted',
    { network: { httpProxyPort: 1 } },
    { enabled: false },
    { network: { httpProxyPort: 1 }, enabled: false },
  ],
  [
    'undefined members change nothing',
    { enabled: true, network: { x: 1 } },
    { enabled: undefined, network: undefined },
    { enabled: true, network: { x: 1 } },
  ],
];

test.each(MERGES)('the sandbox, %s', (_, settings, option, merged) => {
  const base = Object.keys(settings).length > 0 ? { model: 'm', sandbox: settings } : { model: 'm' };
  const expected = { model: 'm', sandbox: merged };
  const sandbox = option as Record<string, unknown>;
  const read = (text: string | undefined) => JSON.parse(text ?? '') as unknown;
  expect(read(settingsText({ settings: base, sandbox }))).toEqual(expected);
  expect(read(settingsText({ settings: JSON.stringify(base), sandbox }))).toEqual(expected);
  expect(read(settingsText({ extraArgs: { settings: JSON.stringify(base) }, sandbox }))).toEqual(expected);
});

test('the settings given are not changed by merging', () => {
  const settings = { sandbox: { network: { deniedDomains: ['a'] } } };
  settingsText({ settings, sandbox: { enabled: true, network: { deniedDomains: ['b'] } } });
  expect(settings).toEqual({ sandbox: { network: { deniedDomains: ['a'] } } });
});
