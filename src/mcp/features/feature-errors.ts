import { nearest } from '../../base/text/nearest.ts';
import type { Prompt } from '../discovery/prompt.ts';
import { HostError } from '../errors/host-error.ts';

/** The server never said that it can do this, so it is not asked. */
export function notOfferedError(server: string, what: string): HostError {
  return new HostError('not-offered', server, `it offers no ${what}`, { hasRun: 'no' });
}

/** The server sent a result of the wrong shape. */
export function malformedResultError(server: string, method: string, detail: string): HostError {
  const text = `its answer to "${method}" cannot be read: ${detail}; whoever made the server has to mend that`;
  return new HostError('unreachable', server, text);
}

/** Names the ones there are, as far as a person reads them. */
function unknownPrompt(server: string, name: string, known: readonly string[]): HostError {
  const similar = nearest(name, known);
  const there = known.length > 0 ? `there are ${formatNames(known)}` : 'there is none';
  const hint = similar === undefined ? there : `did you mean "${similar}"? ${there}`;
  return new HostError('not-offered', server, `it has no prompt "${name}"; ${hint}`, { hasRun: 'no' });
}

function lackingArguments(
  server: string,
  prompt: string,
  missing: readonly string[],
  required: readonly string[],
): HostError {
  const detail = `missing arguments of prompt "${prompt}": ${formatNames(missing)}; required: ${formatNames(required)}`;
  return new HostError('not-offered', server, detail, { hasRun: 'no' });
}

const MAX_NAMES = 20;

function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => `"${name}"`);
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return shown.join(', ') + more;
}

/** Why a prompt cannot be filled in with these arguments, by what its server lists; undefined if nothing speaks against it. */
export function promptError(
  server: string,
  prompts: readonly Prompt[],
  name: string,
  given: Readonly<Record<string, string>>,
): Error | undefined {
  const prompt = prompts.find((it) => it.name === name);
  if (!prompt)
    return unknownPrompt(
      server,
      name,
      prompts.map((it) => it.name),
    );
  const required = prompt.arguments.flatMap((it) => (it.required ? [it.name] : []));
  const missing = required.filter((it) => !Object.hasOwn(given, it));
  return missing.length > 0 ? lackingArguments(server, name, missing, required) : undefined;
}
