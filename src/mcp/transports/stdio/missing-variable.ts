import { stripVTControlCharacters } from 'node:util';

/** A variable that a server misses, by its own words. */
export type MissingVariable = {
  readonly name: string;
  /** Whether the host has it and did not pass it on. */
  readonly isWithheld: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment variable that a server names in its last lines as one it needs: the latest line counts. `given` is what
 * the process got, `host` the environment it would have when it is run by hand.
 */
export function missingVariable(
  lines: readonly string[],
  { given, host }: { readonly given: Environment; readonly host: Environment },
): MissingVariable | undefined {
  for (const line of lines.toReversed()) {
    const name = namesIn(line.slice(0, MAX_LINE)).find(
      (it) => !given[it] && (isNeeded(line, it) || host[it]),
    );
    if (name !== undefined) return { name, isWithheld: Boolean(host[name]) };
  }
  return undefined;
}

/** What to do about it, in the words of the command line and of an entry. */
export function missingVariableAdvice({ name, isWithheld }: MissingVariable): string {
  if (isWithheld) {
    return `${name} is set in your environment, but servers get only a limited environment; pass it on with -e ${name}='\${${name}}', or "inheritEnv": ["${name}"] in its entry`;
  }
  return `${name} is not set; set it with -e ${name}=…, or "env": { "${name}": "…" } in its entry`;
}

const MAX_LINE = 2000;

/** Names as variables have them: in capitals, and no word of an error's code. */
function namesIn(line: string): string[] {
  // Without the colours that some programs give to it.
  const plain = stripVTControlCharacters(line);
  const names = plain.match(/(?<![A-Za-z0-9_])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*(?![A-Za-z0-9_])/g) ?? [];
  return [...new Set(names)].filter((it) => it.length > 2 && !/^(?:ERR_|E[A-Z]+$|.*_NOT_FOUND$)/.test(it));
}

/** Whether the line says that the variable is needed; a name without `_` counts only if the line speaks of variables. */
function isNeeded(line: string, name: string): boolean {
  const isVariable =
    name.includes('_') || /\benv(?:iron(?:ment)?)?\b|\bvariables?\b|process\.env|os\.environ/i.test(line);
  return isVariable && NEEDED.test(line);
}

const NEEDED =
  /\b(?:missing|required?|requires|needs?|needed|must|unset|undefined|empty|expected|provide|specify|define|export|please|KeyError|without|no)\b|\bnot (?:been )?(?:set|found|provided|defined|configured|specified|present|given)\b|\b(?:set|isn't|wasn't|cannot find|could not find)\b/i;
