import { nameFault } from '../../../host/config/source/server-name.ts';
import { looksLikeUrl } from './transport.ts';

/** Why a server cannot be given this name; undefined if it can. Some names would do, and are something else mistyped. */
export function faultOfName(name: string): string | undefined {
  const fault = nameFault(name);
  if (fault !== undefined) return fault;
  if (name !== name.trim()) return 'the name of a server neither begins nor ends with a blank';
  if (name.startsWith('-')) return `"${name}" is no name; flags come before --, the name too`;
  if (/^\w+=/.test(name))
    return `"${name.replace(/=.*/s, '=…')}" is no name; -e takes one KEY=value, repeat -e for each`;
  if (looksLikeUrl(name)) return 'the name comes first, then the address: toolplane mcp add <name> <url>';
  return undefined;
}
