import type { PooledTool } from '../pool.ts';
import { fold } from './inverted-index.ts';

/** A parsed query: exact tool names, or a description of a task with filters. */
type ParsedQuery =
  | { kind: 'select'; names: string[] }
  | {
      kind: 'search';
      text: string;
      /** Words written with a plus. */
      required: string[];
      server?: string;
      readOnly?: boolean;
      destructive?: boolean;
    };

/**
 * Parses `select:a,b`, `server:github issues`, `readonly:true`, `destructive:false` and `+word`. Everything else is part
 * of the text, so that every text is a query.
 */
export function parseQuery(text: string): ParsedQuery {
  const selected = /^\s*select:(.*)$/is.exec(text)?.[1];
  if (selected !== undefined) {
    const names = selected.split(',').map((name) => name.trim());
    return { kind: 'select', names: [...new Set(names.filter((name) => name !== ''))] };
  }
  const query: Extract<ParsedQuery, { kind: 'search' }> = { kind: 'search', text: '', required: [] };
  const words: string[] = [];
  for (const word of text.split(/\s+/).filter((it) => it !== '')) {
    const [, key = '', value = ''] = /^(server|readonly|destructive):(.+)$/i.exec(word) ?? [];
    const flag = /^(true|yes)$/i.test(value) ? true : /^(false|no)$/i.test(value) ? false : undefined;
    if (key.toLowerCase() === 'server') query.server = value;
    else if (key.toLowerCase() === 'readonly' && flag !== undefined) query.readOnly = flag;
    else if (key.toLowerCase() === 'destructive' && flag !== undefined) query.destructive = flag;
    else if (/^\+[\p{L}\p{N}]/u.test(word)) {
      query.required.push(word.slice(1));
      words.push(word.slice(1));
    } else words.push(word);
  }
  query.text = words.join(' ');
  return query;
}

/** Restricts the tools that are searched. */
export type SearchFilter = {
  /** The key of a server; case and dashes are ignored. */
  server?: string;
  /** Whether the tool is marked read-only. */
  readOnly?: boolean;
  /** Whether the tool may be destructive: it is not marked otherwise. */
  destructive?: boolean;
  /** Words that must be in the tool's name or description. */
  required?: readonly string[];
};

/** A predicate for tools that pass the filter. */
export function filterOf({
  server,
  readOnly,
  destructive,
  required = [],
}: SearchFilter): (tool: PooledTool) => boolean {
  const key = server === undefined ? undefined : fold(server);
  const words = required.map((word) => word.toLowerCase());
  return ({ origin, listed, name, description }) => {
    if (key !== undefined && (origin.kind !== 'mcp' || fold(origin.server) !== key)) return false;
    const { readOnlyHint, destructiveHint } = listed.annotations ?? {};
    const reads = readOnlyHint === true;
    if (readOnly !== undefined && reads !== readOnly) return false;
    // By the protocol's default, a tool without the hint may be destructive.
    if (destructive !== undefined && (!reads && destructiveHint !== false) !== destructive) return false;
    if (words.length === 0) return true;
    const text = `${name} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
}
