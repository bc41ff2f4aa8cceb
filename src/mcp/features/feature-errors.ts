import { nearest } from '../../base/text/nearest.ts';
import type { Prompt } from '../discovery/prompt.ts';
import { HostError } from '../errors/host-error.ts';

/** The server never said that it can do this, so it is not asked. */
export function notOffered(server: string, what: string): HostError {
  return new HostError('not-offered', server, `it offers no ${what}`, { hasRun: 'no' });
}

/** The server answered with something that whoever reads it could not use. */
export function malformed(server: string, method: string, fault: string): HostError {
  const words = `its answer to "${method}" cannot be read: ${fault}; whoever made the server has to mend that`;
  return new HostError('unreachable', server, words);
}

/** Names the ones there are, as far as a person reads them. */
function unknownPrompt(server: string, name: string, known: readonly string[]): HostError {
  const meant = nearest(name, known);
  const there = known.length > 0 ? `there are ${sayNames(known)}` : 'there is none';
  const hint = meant === undefined ? there : `did you mean "${meant}"? ${there}`;
  return new HostError('not-offered', server, `it has no prompt "${name}"; ${hint}`, { hasRun: 'no' });
}

function lackingArguments(
  server: string,
  prompt: string,
  missing: readonly string[],
  required: readonly string[],
): HostError {
  const fault = `the prompt "${prompt}" lacks ${sayNames(missing)}; it needs ${sayNames(required)}`;
  return new HostError('not-offered', server, fault, { hasRun: 'no' });
}

const MOST_NAMES = 20;

function sayNames(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => `"${name}"`);
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return shown.join(', ') + more;
}

/** Why a prompt cannot be filled in with these arguments, by what its server lists; undefined if nothing speaks against it. */
export function promptFault(
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
