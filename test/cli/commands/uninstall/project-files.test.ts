import { expect, test } from 'vitest';
import { type Found, undoOf } from '../../../../src/cli/commands/uninstall/project-files.ts';
import { hashContent } from '../../../../src/config/approval/approved-content.ts';
import type { WrittenFile } from '../../../../src/config/write/inventory.ts';

const OURS = { command: 'ours' };
const FILE: WrittenFile = {
  path: '/p/.mcp.json',
  isCreated: true,
  servers: { x: hashContent(OURS) ?? '' },
  lists: { 'permissions.allow': ['Read', 'Bash'] },
  values: { 'permissions.defaultMode': { is: 'acceptEdits' } },
};

const read = (value: Record<string, unknown>, isPlain = true): Found => ({
  state: 'read',
  text: JSON.stringify(value),
  value,
  isPlain,
});
const CHANGED = 'it was changed since';

test.each<[string, Partial<WrittenFile>, Found, object]>([
  ['one that is gone', {}, { state: 'absent' }, { action: 'gone' }],
  [
    'one that cannot be read',
    {},
    { state: 'unusable', fault: 'f' },
    { action: 'leave', left: [{ what: 'the file', why: 'f' }] },
  ],
  [
    'one with nothing but ours',
    {},
    read({ version: 1, mcpServers: { x: OURS } }),
    { action: 'remove', servers: ['x'] },
  ],
  [
    'one in which nothing is left',
    {},
    read({ version: 1, mcpServers: {}, permissions: { allow: [] } }),
    { action: 'remove' },
  ],
  ['one with a comment', {}, read({ mcpServers: { x: OURS } }, false), { action: 'edit', servers: ['x'] }],
  [
    'one that others made',
    { isCreated: false },
    read({ mcpServers: { x: OURS } }),
    { action: 'edit', servers: ['x'] },
  ],
  [
    'one with another server',
    {},
    read({ mcpServers: { x: OURS, y: 1 } }),
    { action: 'edit', servers: ['x'], left: [], edits: [{ path: ['mcpServers', 'x'], value: undefined }] },
  ],
  ['one with another setting', {}, read({ mcpServers: { x: OURS }, model: 'm' }), { action: 'edit' }],
  [
    'one that was changed',
    {},
    read({ mcpServers: { x: { command: 'theirs' } } }),
    { action: 'leave', servers: [], left: [{ what: 'the server "x"', why: CHANGED }], edits: [] },
  ],
  [
    'one with rules of ours only',
    {},
    read({ permissions: { allow: ['Read'] } }),
    { action: 'remove', rules: ['permissions.allow: Read'] },
  ],
  [
    'one with rules of others',
    {},
    read({ permissions: { allow: ['Read', 'Web', 'Bash'] } }),
    {
      action: 'edit',
      rules: ['permissions.allow: Read', 'permissions.allow: Bash'],
      edits: [
        { path: ['permissions', 'allow', 2], value: undefined },
        { path: ['permissions', 'allow', 0], value: undefined },
      ],
    },
  ],
  [
    'one with a mode of ours only',
    {},
    read({ version: 1, permissions: { defaultMode: 'acceptEdits' } }),
    { action: 'remove', values: ['permissions.defaultMode: acceptEdits'] },
  ],
  [
    'one with a mode of ours and more',
    {},
    read({ permissions: { defaultMode: 'acceptEdits' }, model: 'm' }),
    { action: 'edit', edits: [{ path: ['permissions', 'defaultMode'], value: undefined }] },
  ],
  [
    'one whose mode took the place of another',
    { values: { 'permissions.defaultMode': { is: 'acceptEdits', was: 'plan' } } },
    read({ permissions: { defaultMode: 'acceptEdits' } }),
    {
      action: 'edit',
      values: ['permissions.defaultMode: acceptEdits (again plan)'],
      edits: [{ path: ['permissions', 'defaultMode'], value: 'plan' }],
    },
  ],
  [
    'one whose mode somebody changed',
    {},
    read({ permissions: { defaultMode: 'plan' } }),
    { action: 'gone', values: [], edits: [] },
  ],
  ['one of others without ours', { isCreated: false }, read({ model: 'm' }), { action: 'gone' }],
  ['a text as it was', { text: hashContent('{}') ?? '' }, read({}), { action: 'remove' }],
  [
    'a text that was changed',
    { text: 'other' },
    read({}),
    { action: 'leave', left: [{ what: 'the file', why: CHANGED }] },
  ],
])('%s', (_, file, found, undo) => {
  expect(undoOf({ ...FILE, ...file }, found)).toMatchObject(undo);
});
