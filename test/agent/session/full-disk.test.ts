import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryRoot } from '../transcript/sessions.ts';

const PROGRAM = fileURLToPath(new URL('../../support/fixtures/write-everything.ts', import.meta.url));

/** Runs the writers in a process whose files may have so many blocks: a write beyond fails as on a full disk. */
async function writeAll(root: string, blocks: number, long: string): Promise<Record<string, string[]>> {
  const script = `ulimit -f ${blocks}; exec "$0" "$@"`;
  const args = ['-c', script, process.execPath, '--conditions=toolplane-source', PROGRAM, root, long];
  const { stdout } = await promisify(execFile)('/bin/sh', args, { env: { PATH: process.env.PATH } });
  return JSON.parse(stdout);
}

/** The contents of all files below a directory, by their paths. */
function contents(root: string): Record<string, string> {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => statSync(join(root, path)).isFile());
  return Object.fromEntries(files.toSorted().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

/** Writers that keep what can be found again: they have nothing to say. */
const SILENT = ['catalogue', 'eras'];

test.each([
  ['not even a lock', 0],
  ['no whole file', 1],
])(
  'a disk with room for %s: each writer leaves no file behind and says why',
  async (_, blocks) => {
    const root = realpathSync(await temporaryRoot());
    const reported = await writeAll(root, blocks, 'x'.repeat(3_000));
    expect(contents(root)).toEqual({});
    for (const [name, texts] of Object.entries(reported)) {
      const expected = SILENT.includes(name) ? [] : [expect.stringContaining('EFBIG')];
      expect([name, texts]).toEqual([name, expected]);
    }
  },
  30_000,
);

test('a full disk leaves the files that were there as they were', async () => {
  const root = realpathSync(await temporaryRoot());
  const before = await writeAll(root, 1_000, 'short');
  const files = contents(root);
  expect([Object.values(before).flat(), Object.keys(files)]).toEqual([[], expect.any(Array)]);
  expect(Object.keys(files).length).toBeGreaterThanOrEqual(12);
  writeFileSync(join(root, 'created'), 'mine');
  await writeAll(root, 0, 'y'.repeat(3_000));
  expect(contents(root)).toEqual({ ...files, created: 'mine' });
}, 30_000);
