import { isRecord } from '../../../base/json-value.ts';
import { parseJsonc } from '../../../config/files/parse-jsonc.ts';
import { entryFault, meantEntry } from '../../../config/sources/validate-entry.ts';

import { foreignMember, foreignMembers, unknownMembers } from '../../../protocol/server-entry.ts';

import type { GivenEntry } from './given-entry.ts';
import { oneWordAdvice } from './one-word.ts';

/** The entry a JSON text holds; a whole `{ "mcpServers": … }` of one server is understood too. */
export function readJson(name: string, text: string): GivenEntry {
  const { value, faults } = parseJsonc(text.replace(/^\ufeff/, ''));
  const [first] = faults;
  if (first) {
    const { line, column } = first.position;
    return faulty(`it is no JSON: line ${line}, column ${column}: ${first.message}`);
  }
  const whole = isRecord(value) && isRecord(value.mcpServers) ? value.mcpServers : undefined;
  return whole ? ofWhole(name, whole) : ofEntry(name, value);
}

function ofWhole(name: string, servers: Readonly<Record<string, unknown>>): GivenEntry {
  const [one, ...more] = Object.keys(servers);
  if (one === undefined) return faulty('its "mcpServers" is empty');
  if (more.length > 0) {
    return faulty(
      `it holds ${more.length + 1} servers; give one at a time, what stands behind its name: {"command": …} or {"type": "http", "url": …}`,
    );
  }
  const read = ofEntry(name, servers[one]);
  const note = one === name ? [] : [`it is called "${one}" there, and "${name}" from now on`];
  return read.kind === 'faulty' ? read : { ...read, notes: [...note, ...(read.notes ?? [])] };
}

function ofEntry(name: string, value: unknown): GivenEntry {
  if (!isRecord(value) || Array.isArray(value)) {
    return faulty('it must be an object, such as {"command": "npx"} or {"url": "https://…"}');
  }
  const fault = entryFault(name, value);
  if (fault) {
    const hints = isMap(value) ? ['give only what stands behind the name'] : foreignMembers(name, value);
    return faulty([fault.message, ...hints].join('; '));
  }
  const notes = unknownMembers(meantEntry(value).entry).map(({ name: member, meant }) => {
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return `"${member}" ${foreignMember(name, member) ?? `means nothing here${hint}`}`;
  });
  return { kind: 'entry', entry: value, notes: [...notes, ...oneWordAdvice(value, 'json')] };
}

/** Somebody gave the name and its entry. */
function isMap(value: Readonly<Record<string, unknown>>): boolean {
  const all = Object.values(value);
  return all.length > 0 && all.every((it) => isRecord(it) && ('command' in it || 'url' in it));
}

function faulty(fault: string): GivenEntry {
  return { kind: 'faulty', faults: [fault] };
}
