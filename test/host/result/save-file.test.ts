import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { expect, test } from 'vitest';
import { saveFile } from '../../../src/host/result/save-file.ts';
import { temporaryRoot } from '../transcript/sessions.ts';

test.each([
  ['image/png', '.png'],
  ['image/svg+xml; charset=utf-8', '.svg'],
  ['audio/x-wav', '.wav'],
  ['application/octet-stream', '.octet'],
  ['../../etc/passwd', '.bin'],
  ['text/../../x', '.bin'],
  ['', '.bin'],
])('%j is kept as a %s of its own, for its owner only', async (mimeType, extension) => {
  const root = await temporaryRoot();
  const directory = join(root, 'made', 'here');
  const path = await saveFile(directory, Buffer.from('data').toString('base64'), mimeType);
  expect({ folder: dirname(path), extension: extname(path) }).toEqual({ folder: directory, extension });
  expect(await readFile(path, 'utf8')).toBe('data');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  await saveFile(directory, '', mimeType);
  expect(await readdir(directory)).toHaveLength(2);
});
