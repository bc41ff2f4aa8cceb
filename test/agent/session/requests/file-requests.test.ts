import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SessionOptions } from '../../../../src/agent/session/session.ts';
import type { Rule } from '../../../../src/permissions/rule.ts';
import { raw } from '../../../support/drive.ts';
import { temporaryRoot } from '../../transcript/sessions.ts';

// interop/programs/read-file.ts compares the answers with those of the real CLI.

async function session(more: Partial<SessionOptions> = {}) {
  const root = await temporaryRoot();
  await mkdir(join(root, 'work'));
  await writeFile(join(root, 'work', 'a.txt'), 'inside');
  await writeFile(join(root, 'outside.txt'), 'outside');
  const workspace = { cwd: join(root, 'work'), home: root, directories: [] };
  const { ask } = raw([], { workspace, ...more });
  return { root, read: (path: string) => ask('read_file', { path }) };
}

const rule = (effect: Rule['effect'], content?: string): Rule => ({
  tool: 'Read',
  effect,
  source: 'session',
  ...(content !== undefined && { content }),
});

test.each<[string, Partial<SessionOptions>]>([
  ['no rule', {}],
  ['a rule for the tool', { rules: [rule('allow')] }],
  ['a rule for every path', { rules: [rule('allow', '//**')] }],
  ['mode bypassPermissions', { permissionMode: 'bypassPermissions', mayBypass: true }],
])('%s lets the program read the workspace only', async (_, more) => {
  const { root, read } = await session(more);
  expect(await read('a.txt')).toMatchObject({ response: { contents: 'inside' } });
  const denied = { subtype: 'error', error: expect.stringMatching(/^read denied: .*outside\.txt$/) };
  expect(await read(join(root, 'outside.txt'))).toMatchObject(denied);
  expect(await read('../outside.txt')).toMatchObject(denied);
});

test.each([rule('deny', 'a.txt'), rule('ask', 'a.txt')])('%j keeps the program from reading', async (it) => {
  const { read } = await session({ rules: [it] });
  expect(await read('a.txt')).toMatchObject({ subtype: 'error', error: 'read denied: a.txt' });
});
