import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  makeDirectory,
  partsOf,
  partsText,
  safeName,
  saveParts,
} from '../../../src/cli/output/content-parts.ts';

describe('save parts', () => {
  const NEVER = new AbortController().signal;

  test('saves binary content to new files and keeps the rest', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'toolplane-save-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    writeFileSync(join(directory, 'shot-1.png'), 'mine');
    const image = { type: 'image', data: Buffer.from('new').toString('base64'), mimeType: 'image/png' };
    const parts = partsOf([{ type: 'text', text: 'here' }, image, image]);
    const saved = await saveParts(parts, directory, 'shot', NEVER);
    expect(saved.faults).toEqual([]);
    expect(saved.files).toEqual(['shot-2.png', 'shot-3.png'].map((it) => join(directory, it)));
    expect(partsText(saved.parts)).toBe(
      [
        'here',
        `[image image/png, 3 bytes: ${join(directory, 'shot-2.png')}]`,
        `[image image/png, 3 bytes: ${join(directory, 'shot-3.png')}]\n`,
      ].join('\n'),
    );
    expect(readFileSync(join(directory, 'shot-1.png'), 'utf8')).toBe('mine');
    expect(readFileSync(join(directory, 'shot-3.png'), 'utf8')).toBe('new');
    expect(readdirSync(directory)).toHaveLength(3);
  });

  test('reports a part that cannot be saved and keeps the others', async () => {
    const image = { type: 'image', data: Buffer.from('new').toString('base64'), mimeType: 'image/png' };
    const { parts, files, faults } = await saveParts(
      partsOf([{ type: 'text', text: 'here' }, image]),
      join(tmpdir(), 'no', 'such', 'directory'),
      'shot',
      NEVER,
    );
    expect(partsText(parts)).toBe('here\n[image image/png, 3 bytes]\n');
    expect(files).toEqual([]);
    expect(faults).toEqual([expect.stringMatching(/^cannot save image image\/png, 3 bytes: ENOENT/)]);
  });

  test.each([
    ['get-image', 'get-image'],
    ['../../etc/passwd', '_etc_passwd'],
    ['..', 'content'],
    ['日本', 'content'],
    ['a'.repeat(100), 'a'.repeat(60)],
  ])('a tool named %s cannot leave the directory', (name, safe) => {
    expect(safeName(name)).toBe(safe);
  });

  const png = { type: 'image', data: Buffer.from('new').toString('base64'), mimeType: 'image/png' };

  test('numbers files per extension, after existing ones', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'toolplane-save-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const wav = { ...png, type: 'audio', mimeType: 'audio/wav' };
    const parts = partsOf([png, png, wav, png, png]);
    const { files } = await saveParts(parts, directory, 'shot', NEVER);
    expect(files.map((it) => it.slice(directory.length + 1))).toEqual([
      'shot-1.png',
      'shot-2.png',
      'shot-1.wav',
      'shot-3.png',
      'shot-4.png',
    ]);
  });

  test('saves thousands of files with one attempt each', async () => {
    const tried: string[] = [];
    const write = async (path: string) => void tried.push(path);
    await saveParts(partsOf(Array.from({ length: 3000 }, () => png)), 'd', 'shot', NEVER, write);
    expect(tried).toHaveLength(3000);
    expect(new Set(tried).size).toBe(3000);
  });

  test('saves nothing more after an interrupt', async () => {
    const over = new AbortController();
    const tried: string[] = [];
    const write = async (path: string) => {
      tried.push(path);
      if (tried.length === 2) over.abort(130);
    };
    await expect(saveParts(partsOf([png, png, png]), 'd', 'shot', over.signal, write)).rejects.toBe(130);
    expect(tried).toHaveLength(2);
  });

  test('stops searching for a free name when aborted', async () => {
    const over = new AbortController();
    let tries = 0;
    const write = () => {
      if (++tries === 5) over.abort(143);
      return Promise.reject(Object.assign(new Error('taken'), { code: 'EEXIST' }));
    };
    await expect(saveParts(partsOf([png]), 'd', 'shot', over.signal, write)).rejects.toBe(143);
  });
});

describe('make directory', () => {
  function root(): string {
    const directory = mkdtempSync(join(tmpdir(), 'toolplane-make-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    return directory;
  }

  test('creates missing directories and accepts existing ones', async () => {
    const path = join(root(), 'a', 'b');
    await makeDirectory(path);
    await makeDirectory(path);
    expect(statSync(path).isDirectory()).toBe(true);
  });

  test('refuses a file and a path below a file', async () => {
    const file = join(root(), 'file');
    writeFileSync(file, '');
    await expect(makeDirectory(file)).rejects.toThrow(`--output ${file} is not a directory`);
    await expect(makeDirectory(join(file, 'a'))).rejects.toThrow(`${join(file, 'a')} is not a directory`);
  });

  test.runIf(process.platform === 'linux')('where the system makes none that is told, at once', async () => {
    await expect(makeDirectory('/proc/nope/a')).rejects.toThrow(
      'cannot create --output /proc/nope/a: ENOENT',
    );
  });
});
