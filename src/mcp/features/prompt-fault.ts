import type { Prompt } from '../discovery/prompt.ts';
import { lackingArguments, unknownPrompt } from './feature-fault.ts';

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
