import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Writes a temporary file with this content and returns its path. */
export function jsonFile(content: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'toolplane-flag-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'flag.json');
  writeFileSync(path, content);
  return path;
}
