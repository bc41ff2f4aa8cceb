import { nameFault } from '../../../config/sources/validate-entry.ts';
import { looksLikeUrl } from './transport.ts';

/** Why a server cannot be given this name; undefined if it can. Some names would do, and are something else mistyped. */
export function faultOfName(name: string): string | undefined {
  if (name.startsWith('-')) return `a name does not begin with "-"; flags come before --, the name too`;
  const fault = nameFault(name);
  if (fault !== undefined) return fault;
  if (name !== name.trim()) return 'the name of a server neither begins nor ends with a blank';
  if (/^\w+=/.test(name))
    return `"${name.replace(/=.*/s, '=…')}" is no name; variables come after -e: -e KEY=value`;
  if (looksLikeUrl(name)) return 'the name comes first, then the address: toolplane mcp add <name> <url>';
  return undefined;
}
