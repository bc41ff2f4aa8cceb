import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { onPath } from '../../../../src/cli/mcp/doctor/check-server.ts';
import { configPlace } from '../../../config/config-place.ts';

function tools() {
  const { project, write } = configPlace();
  const runnable = write(join(project, 'bin', 'run'), '#!/bin/sh\n');
  chmodSync(runnable, 0o755);
  const plain = write(join(project, 'bin', 'plain'), '#!/bin/sh\n');
  chmodSync(plain, 0o644);
  const world = { path: `/nonexistent:${join(project, 'bin')}`, cwd: project, platform: 'linux' } as const;
  return { project, runnable, plain, world };
}

test('a command is looked for in every directory of PATH', async () => {
  const { runnable, world } = tools();
  expect(await onPath('run', world)).toEqual({ kind: 'found', path: runnable });
  expect(await onPath('nope', world)).toEqual({ kind: 'missing' });
  expect(await onPath('run', { ...world, path: undefined })).toEqual({ kind: 'missing' });
});

test('a way is taken as it is, from where the server runs', async () => {
  const { runnable, world } = tools();
  expect(await onPath('./bin/run', world)).toEqual({ kind: 'found', path: runnable });
  expect(await onPath(runnable, { ...world, path: '' })).toEqual({ kind: 'found', path: runnable });
  expect(await onPath('./run', world)).toEqual({ kind: 'missing' });
});

test('a file that nobody may run is told from none, and a directory is none', async () => {
  const { plain, world } = tools();
  expect(await onPath('plain', world)).toEqual({ kind: 'not-executable', path: plain });
  expect(await onPath('./bin', world)).toEqual({ kind: 'missing' });
});
