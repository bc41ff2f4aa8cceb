import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isRecord } from '../../base/is-record.ts';
import { type DatedVerdict, MemoryEras } from './memory-eras.ts';
import type { EraMemory, EraVerdict } from './world.ts';

const FORMAT = 1;
const WRITE_AFTER_MS = 500;

/** Eras in a file that only its owner can read. One that cannot be read is empty, one that cannot be written is forgotten. */
export function fileEras(path: string, now: () => number = Date.now): EraMemory & { flush(): Promise<void> } {
  let memory: MemoryEras | undefined;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(() => replace(path, opened().entries)).catch(() => {});
    return writing;
  };
  const opened = (): MemoryEras => {
    memory ??= new MemoryEras(now, read(path), () => {
      // Whoever connects to many servers at once writes once; and nobody stays alive for it.
      timer ??= setTimeout(() => void write(), WRITE_AFTER_MS).unref();
    });
    return memory;
  };
  return {
    recall: (key) => opened().recall(key),
    remember: (key, verdict) => opened().remember(key, verdict),
    /** Writes now what is to be written. */
    flush: () => (timer ? write() : writing),
  };
}

async function replace(path: string, entries: ReadonlyMap<string, DatedVerdict>): Promise<void> {
  const text = JSON.stringify({ format: FORMAT, eras: Object.fromEntries(entries) });
  const next = `${path}.${randomUUID()}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await writeFile(next, text, { mode: 0o600, flag: 'wx' });
    await rename(next, path);
  } finally {
    await rm(next, { force: true });
  }
}

function read(path: string): [string, DatedVerdict][] {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isRecord(value) || value.format !== FORMAT || !isRecord(value.eras)) return [];
    return Object.entries(value.eras).flatMap(([key, it]) => {
      if (!isRecord(it) || typeof it.at !== 'number') return [];
      const verdict = readVerdict(it.verdict);
      return verdict ? [[key, { verdict, at: it.at }]] : [];
    });
  } catch {
    return [];
  }
}

function readVerdict(value: unknown): EraVerdict | undefined {
  if (!isRecord(value)) return undefined;
  if (value.era === 'legacy') return { era: 'legacy' };
  return value.era === 'modern' && isRecord(value.discover)
    ? { era: 'modern', discover: value.discover }
    : undefined;
}
