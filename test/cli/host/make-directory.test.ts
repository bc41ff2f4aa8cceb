import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeDirectory } from '../../../src/cli/host/make-directory.ts';

function root(): string {
  const directory = mkdtempSync(join(tmpdir(), 'toolplane-make-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

test('what is missing is made, and what is there may stay', async () => {
  const path = join(root(), 'a', 'b');
  await makeDirectory(path);
  await makeDirectory(path);
  expect(statSync(path).isDirectory()).toBe(true);
});

test('a file is no directory, nor is anything below it', async () => {
  const file = join(root(), 'file');
  writeFileSync(file, '');
  await expect(makeDirectory(file)).rejects.toThrow(`--output ${file} is no directory`);
  await expect(makeDirectory(join(file, 'a'))).rejects.toThrow(`${join(file, 'a')} is no directory`);
});

test.runIf(process.platform === 'linux')('where the system makes none that is told, at once', async () => {
  await expect(makeDirectory('/proc/nope/a')).rejects.toThrow('--output /proc/nope/a cannot be made: ENOENT');
});
