import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VERSION } from '../../src/entry/version.ts';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

test('the version is the package’s', () => {
  expect(VERSION).toBe(manifest.version);
});

test('tests run on the pinned Node, whatever is on PATH', () => {
  expect(process.version).toMatch(/^v24\./);
});
