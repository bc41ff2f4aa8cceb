import { normalizeName } from '../../protocol/tool-name.ts';
import type { Definition } from './definition.ts';

type Accepted = ReadonlyMap<string, Definition>;

/**
 * What a tool is to be compared with: what was accepted under its name, or under one that models and rules do not tell from
 * it (`read_file` for `read.file`). Otherwise a tool could take another's name, and the rules for it, as a new one.
 */
export function pinOf(accepted: Accepted | undefined, name: string): Definition | undefined {
  return accepted?.get(name) ?? (accepted && byOffered(accepted).get(normalizeName(name)));
}

/** Kept with the pins, which are never altered in place. */
const offered = new WeakMap<Accepted, ReadonlyMap<string, Definition>>();

function byOffered(accepted: Accepted): ReadonlyMap<string, Definition> {
  const known = offered.get(accepted);
  if (known) return known;
  const made = new Map<string, Definition>();
  for (const [name, definition] of accepted) made.set(normalizeName(name), definition);
  offered.set(accepted, made);
  return made;
}
