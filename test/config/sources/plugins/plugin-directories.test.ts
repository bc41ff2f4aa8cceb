import { expect, test } from 'vitest';
import { documentOf } from '../../../../src/config/files/read-document.ts';
import { pluginDirectories } from '../../../../src/config/sources/plugins/plugin-directories.ts';

const WORLD = { cwd: '/desk', userHome: '/h/me' };

function directories(text: string, path?: string) {
  const document = documentOf('', text);
  if (document.state !== 'read') throw new Error('the text is no JSON');
  const { value, locate } = document;
  const place = { scope: 'user', label: 'settings', ...(path && { path }) } as const;
  return pluginDirectories({ ...place, value, locate }, WORLD);
}

test.each([
  ['{"plugins":["a","./b","/c","~/d","../e"]}', '/h/me/.toolplane/settings.json', '/h/me/.toolplane'],
  ['{"plugins":["a","./b","/c","~/d","../e"]}', undefined, '/desk'],
])('directories are seen from the file they stand in', (text, path, base) => {
  const up = base.slice(0, base.lastIndexOf('/'));
  expect(directories(text, path)).toEqual({
    directories: [`${base}/a`, `${base}/b`, '/c', '/h/me/d', `${up}/e`],
    faults: [],
  });
});

test('settings need not name any', () => {
  expect(directories('{}')).toEqual({ directories: [], faults: [] });
});

test('what is no directory is told, the others count', () => {
  expect(directories('{\n"plugins": ["a", 5, ""] }')).toEqual({
    directories: ['/desk/a'],
    faults: [
      {
        level: 'error',
        scope: 'user',
        label: 'settings',
        key: 'plugins[1]',
        position: { line: 2, column: 18 },
        message: 'it must be the path of a directory',
      },
      expect.objectContaining({ key: 'plugins[2]' }),
    ],
  });
  expect(directories('{"plugins": {}}').faults).toMatchObject([{ key: 'plugins' }]);
});
