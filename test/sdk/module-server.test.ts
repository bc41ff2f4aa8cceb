import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { moduleServer } from '../../src/sdk/module-server.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const serves = (...args: string[]) => ({
  type: 'stdio',
  command: process.execPath,
  // A module server that is started from source files runs the command from source files, too.
  args: ['--conditions=toolplane-source', CLI, 'serve', ...args],
});

test.each<[string, () => object, object]>([
  ['a path', () => moduleServer('./tools.ts'), serves('./tools.ts')],
  ['a file URL', () => moduleServer(new URL('file:///a%20b/tools.ts')), serves('/a b/tools.ts')],
  ['a file URL as text', () => moduleServer('file:///a/tools.ts'), serves('/a/tools.ts')],
  ['an export', () => moduleServer('/t.ts', { export: 'calc' }), serves('/t.ts', '--export', 'calc')],
  [
    'its environment and limit',
    () => moduleServer('/t.ts', { env: { A: 'b' }, timeout: 5 }),
    { ...serves('/t.ts'), env: { A: 'b' }, timeout: 5 },
  ],
])('%s becomes a stdio server that runs the module (R36, R42)', (_, make, entry) => {
  expect(make()).toEqual(entry);
});

test('a module that is not a local file is rejected', () => {
  expect(() => moduleServer('https://example.invalid/tools.ts')).toThrow(
    expect.objectContaining({
      code: 'bad-server',
      message:
        'moduleServer: https://example.invalid/tools.ts is not a file; only modules on this machine can be served',
    }),
  );
});
