import { expect, test } from 'vitest';
import { undoOf } from '../../../../src/cli/commands/uninstall/project-files.ts';
import { hashContent } from '../../../../src/config/approval/approved-content.ts';
import type { FileText } from '../../../../src/config/files/read-text.ts';
import type { WrittenFile } from '../../../../src/config/write/inventory.ts';

const OURS = { command: 'ours' };
const FILE: WrittenFile = {
  path: '/p/.mcp.json',
  isCreated: true,
  servers: { x: hashContent(OURS) ?? '' },
  lists: { 'permissions.allow': ['Read', 'Bash'] },
  values: { 'permissions.defaultMode': { is: 'acceptEdits' } },
};

const read = (value: Record<string, unknown>, comment = ''): FileText => ({
  state: 'read',
  text: `${comment}${JSON.stringify(value)}`,
});
const CHANGED = 'changed since Toolplane wrote it';

test.each<[string, Partial<WrittenFile>, FileText, object]>([
  ['a file that no longer exists', {}, { state: 'absent' }, { action: 'gone' }],
  [
    'an unreadable file',
    {},
    { state: 'unusable', fault: 'f' },
    { action: 'leave', left: [{ what: 'the file', why: 'f' }] },
  ],
  [
    "a created file with only Toolplane's server",
    {},
    read({ version: 1, mcpServers: { x: OURS } }),
    { action: 'remove', servers: ['x'] },
  ],
  [
    'a created file without content',
    {},
    read({ version: 1, mcpServers: {}, permissions: { allow: [] } }),
    { action: 'remove' },
  ],
  [
    'a file with a comment',
    {},
    read({ mcpServers: { x: OURS } }, '// note\n'),
    { action: 'edit', servers: ['x'] },
  ],
  [
    'a file that existed before',
    { isCreated: false },
    read({ mcpServers: { x: OURS } }),
    { action: 'edit', servers: ['x'] },
  ],
  [
    'a file with another server',
    {},
    read({ mcpServers: { x: OURS, y: 1 } }),
    { action: 'edit', servers: ['x'], left: [], edits: [{ path: ['mcpServers', 'x'], value: undefined }] },
  ],
  ['a file with another setting', {}, read({ mcpServers: { x: OURS }, model: 'm' }), { action: 'edit' }],
  [
    'a changed server',
    {},
    read({ mcpServers: { x: { command: 'theirs' } } }),
    { action: 'leave', servers: [], left: [{ what: 'the server "x"', why: CHANGED }], edits: [] },
  ],
  [
    "a file with only Toolplane's rules",
    {},
    read({ permissions: { allow: ['Read'] } }),
    { action: 'remove', rules: ['permissions.allow: Read'] },
  ],
  [
    'a file with other rules',
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
    "a file with only Toolplane's mode",
    {},
    read({ version: 1, permissions: { defaultMode: 'acceptEdits' } }),
    { action: 'remove', values: ['permissions.defaultMode: acceptEdits'] },
  ],
  [
    "a file with Toolplane's mode and another setting",
    {},
    read({ permissions: { defaultMode: 'acceptEdits' }, model: 'm' }),
    { action: 'edit', edits: [{ path: ['permissions', 'defaultMode'], value: undefined }] },
  ],
  [
    'a mode that replaced another',
    { values: { 'permissions.defaultMode': { is: 'acceptEdits', was: 'plan' } } },
    read({ permissions: { defaultMode: 'acceptEdits' } }),
    {
      action: 'edit',
      values: ['permissions.defaultMode: acceptEdits (reset to plan)'],
      edits: [{ path: ['permissions', 'defaultMode'], value: 'plan' }],
    },
  ],
  [
    'a mode that was changed since',
    {},
    read({ permissions: { defaultMode: 'plan' } }),
    { action: 'gone', values: [], edits: [] },
  ],
  [
    "an existing file without Toolplane's content",
    { isCreated: false },
    read({ model: 'm' }),
    { action: 'gone' },
  ],
  ['an unchanged text file', { text: hashContent('{}') ?? '' }, read({}), { action: 'remove' }],
  [
    'a changed text file',
    { text: 'other' },
    read({}),
    { action: 'leave', left: [{ what: 'the file', why: CHANGED }] },
  ],
])('%s', (_, file, found, undo) => {
  expect(undoOf({ ...FILE, ...file }, found)).toMatchObject(undo);
});
