import { isRecord } from '../../base/is-record.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { checkExternalEntry } from '../../protocol/server-entry.ts';
import type { ServerEntry } from '../connect/world.ts';

/** The servers that `{ "mcpServers": { … } }` names, without those that cannot be used: each of these is a fault. */
export function readMcpConfig(
  raw: unknown,
  where: string,
): { readonly servers: Record<string, ServerEntry>; readonly faults: readonly string[] } {
  if (!isRecord(raw) || !isRecord(raw.mcpServers)) {
    return { servers: {}, faults: [`${where} has no "mcpServers" object`] };
  }
  const servers: Record<string, ServerEntry> = {};
  const faults: string[] = [];
  for (const [key, entry] of Object.entries(raw.mcpServers)) {
    try {
      servers[key] =
        isRecord(entry) && entry.type === 'sdk' ? inProgram(key, entry) : checkExternalEntry(key, entry);
    } catch (cause) {
      faults.push(`${where}: ${messageOf(cause)}`);
    }
  }
  return { servers, faults };
}

function inProgram(key: string, { timeout }: Record<string, unknown>): ServerEntry {
  return { type: 'sdk', name: key, ...(typeof timeout === 'number' && { timeout }) };
}
