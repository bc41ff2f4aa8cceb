import { nearest } from '../../base/text/nearest.ts';
import type { Prompt } from '../discovery/prompt.ts';
import { HostError } from '../errors/host-error.ts';

/** The server lacks the capability, so no request is sent. */
export function notOfferedError(server: string, what: string): HostError {
  return new HostError('not-offered', server, `the server does not offer ${what}`, { hasRun: 'no' });
}

/** The server sent a result of the wrong shape. */
export function malformedResultError(server: string, method: string, detail: string): HostError {
  const text = `its response to "${method}" is malformed: ${detail}; report this to the server’s author`;
  return new HostError('unreachable', server, text);
}

/** Lists the available prompts, up to a limit. */
function unknownPrompt(server: string, name: string, known: readonly string[]): HostError {
  const similar = nearest(name, known);
  const available = known.length > 0 ? `available: ${formatNames(known)}` : 'the server offers no prompts';
  const hint = similar === undefined ? available : `did you mean "${similar}"? ${available}`;
  return new HostError('not-offered', server, `the server has no prompt "${name}"; ${hint}`, {
    hasRun: 'no',
  });
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

/** Why a prompt cannot be used with these arguments; undefined if it can. */
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
