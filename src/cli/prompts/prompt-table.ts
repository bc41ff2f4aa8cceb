import type { Prompt } from '../../mcp/discovery/prompt.ts';
import type { FilledPrompt } from '../../mcp/features/feature-results.ts';
import { partsOf, partsText } from '../host/content-parts.ts';
import { grouped } from '../host/grouped.ts';
import { firstLine } from '../tools/tool-table.ts';

/** Prompts below the names of their servers: name, arguments, and what they are for. */
export function promptTable(
  all: readonly (Prompt & { readonly server: string })[],
  columns: number | undefined,
): string[] {
  return grouped(all, 'prompt', columns, (it) => [it.name, argumentsText(it), firstLine(it.description)]);
}

/** `who=… [mood=…]`: what is in brackets may be left out. */
export function argumentsText({ arguments: all }: Pick<Prompt, 'arguments'>): string {
  return all.map(({ name, required }) => (required ? `${name}=…` : `[${name}=…]`)).join(' ');
}

/** The messages of a prompt, each below who says it. */
export function filledText({ messages }: FilledPrompt): string {
  return messages.map(({ role, content }) => `${role}:\n${partsText(partsOf([content]))}`).join('\n');
}
