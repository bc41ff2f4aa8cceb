/** What a search is asked for: tools by their very names, or a need with what narrows it. */
export type ParsedQuery =
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
 * Reads `select:a,b`, `server:github issues`, `readonly:true`, `destructive:false` and `+word`. What is not of such a
 * form is part of the text, so every text is a query.
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
