import { fileURLToPath } from 'node:url';
import type { StdioServerEntry } from '../../src/protocol/server-entry.ts';

/** A stdio entry that runs `fixtures/server.mjs`. */
export function fixture(more: Partial<StdioServerEntry> = {}): StdioServerEntry {
  const path = fileURLToPath(new URL('fixtures/server.mjs', import.meta.url));
  return { command: process.execPath, args: [path], ...more };
}

/** Whether the process is running. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
