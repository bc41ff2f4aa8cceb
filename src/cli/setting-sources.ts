import type { WritableScope } from '../config/write/write-servers.ts';
import { scopeName } from './mcp/one-of.ts';

/** Reads `--setting-sources`, words with commas between them; without a word no settings are read but those of the machine. */
export function settingSources(value: string): WritableScope[] {
  return value
    .split(/[,\s]+/)
    .filter((word) => word !== '')
    .map(scopeName);
}
