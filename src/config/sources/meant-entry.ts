import type { WrittenServer } from '../model.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * An entry as it is meant: what others call a type is the one we have, and whether it is turned off stands apart, since
 * that is nothing to dial with.
 */
export function meantEntry(raw: Values): Pick<WrittenServer, 'off'> & { readonly entry: Values } {
  const { disabled, enabled, ...entry } = raw;
  const off = disabled === true ? 'disabled' : enabled === false ? 'enabled' : undefined;
  const isAlias = typeof entry.type === 'string' && HTTP.test(entry.type);
  if (disabled === undefined && enabled === undefined && !isAlias) return { entry: raw };
  return { entry: isAlias ? { ...entry, type: 'http' } : entry, ...(off !== undefined && { off }) };
}

/** As it is called elsewhere. */
const HTTP = /^streamable[-_]?http$/i;
