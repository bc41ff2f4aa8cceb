import { readFileSync } from 'node:fs';

const TYPES = new URL('../../interop/node_modules/@anthropic-ai/claude-agent-sdk/sdk.d.ts', import.meta.url);
const text = readFileSync(TYPES, 'utf8').replaceAll('\r\n', '\n');

/** The members of a type of the official package, as its published types declare them; comments and nested members are left out. */
export function publishedMembers(declaration: string): string[] {
  const from = text.indexOf(`\nexport declare ${declaration}`);
  if (from === -1) throw new Error(`The published types declare no "${declaration}"`);
  const body = text.slice(text.indexOf('{\n', from) + 2, text.indexOf('\n}', from));
  return [...body.matchAll(/^ {4}(?:readonly )?(\w+)\??[:(<]/gm)].map((match) => match[1] as string).sort();
}

/** The names of all values, not types, that the official package exports. */
export function publishedValues(): string[] {
  const found = text.matchAll(/^export declare (?:abstract )?(?:function|const|class|enum|let|var) (\w+)/gm);
  return [...new Set([...found].map((match) => match[1] as string))].sort();
}
