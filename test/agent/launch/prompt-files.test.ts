import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readPromptFiles } from '../../../src/agent/launch/prompt-files.ts';

test('without files there is nothing', async () => {
  expect(await readPromptFiles({}, '/nowhere')).toEqual({ faults: [] });
});

test('prompts stand in files, relative to the working directory', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'launch-'));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, 'prompt.md'), 'Be kind.');
  await writeFile(join(cwd, 'more.md'), 'Be brief.');
  const flags = { systemPromptFile: 'prompt.md', appendSystemPromptFile: join(cwd, 'more.md') };
  expect(await readPromptFiles(flags, cwd)).toEqual({
    systemPrompt: 'Be kind.',
    appendSystemPrompt: 'Be brief.',
    faults: [],
  });
});

test('a file that cannot be read is a fault; what is no path may be a secret and is not shown', async () => {
  const flags = { systemPromptFile: 'none.md', appendSystemPromptFile: 'TOKEN=hush' };
  expect((await readPromptFiles(flags, '/nowhere')).faults).toEqual([
    '--system-prompt-file none.md cannot be read (ENOENT)',
    'the file of --append-system-prompt-file cannot be read (ENOENT)',
  ]);
});
