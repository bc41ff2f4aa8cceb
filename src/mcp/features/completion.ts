import type { Connection } from '../connection/connection.ts';

/** What is completed: an argument of a prompt, by name, or of a resource template, by `uriTemplate`. */
export type CompletionOf = { readonly prompt: string } | { readonly resourceTemplate: string };

/** The capability came with this revision; before it, any server might complete. */
const SAYS_SO_SINCE = '2025-03-26';

export function mayComplete({
  capabilities,
  protocolVersion,
}: Pick<Connection, 'capabilities' | 'protocolVersion'>): boolean {
  return (
    capabilities.completions !== undefined || (protocolVersion !== '' && protocolVersion < SAYS_SO_SINCE)
  );
}

export function completionParams(
  of: CompletionOf,
  { name, value }: { readonly name: string; readonly value: string },
  context: Readonly<Record<string, string>>,
): Record<string, unknown> {
  return {
    ref:
      'prompt' in of
        ? { type: 'ref/prompt', name: of.prompt }
        : { type: 'ref/resource', uri: of.resourceTemplate },
    argument: { name, value },
    ...(Object.keys(context).length > 0 && { context: { arguments: { ...context } } }),
  };
}
