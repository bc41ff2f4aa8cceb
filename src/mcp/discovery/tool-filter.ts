import { isRecord } from '../../base/json-value.ts';

/** Which of a server's tools are wanted, by its own names for them; `*` stands for any characters. */
export type ToolFilter = {
  /** Only these; by default all. */
  readonly includeTools?: readonly string[];
  /** Not these, also if they are included. */
  readonly excludeTools?: readonly string[];
};

/** The tool filter of an entry; an unvalidated entry with wrong types has no filter. */
export function toolFilterOf(entry: unknown): ToolFilter {
  const { includeTools, excludeTools }: Record<string, unknown> = isRecord(entry) ? entry : {};
  return {
    ...(isTexts(includeTools) && { includeTools }),
    ...(isTexts(excludeTools) && { excludeTools }),
  };
}

/** What is wrong with what an entry chooses, if anything: a choice that cannot be read must not let everything through. */
export function toolFilterError(entry: Readonly<Record<string, unknown>>): string | undefined {
  const bad = (['includeTools', 'excludeTools'] as const).find(
    (name) => entry[name] !== undefined && !isTexts(entry[name]),
  );
  return bad && `"${bad}" must be a list of names of tools`;
}

/** Whether a tool is wanted; no choice wants all. */
export function isIncluded(name: string, { includeTools, excludeTools }: ToolFilter): boolean {
  const isNamed = (patterns: readonly string[]) => patterns.some((pattern) => matches(pattern, name));
  return (includeTools === undefined || isNamed(includeTools)) && !isNamed(excludeTools ?? []);
}

/** The tools that are wanted; the same list if that is all of them. */
export function filterTools<T extends { readonly name: string }>(
  tools: readonly T[],
  choice: ToolFilter,
): readonly T[] {
  const chosen = tools.filter(({ name }) => isIncluded(name, choice));
  return chosen.length === tools.length ? tools : chosen;
}

/** What is named and is not there, most likely a typo; one line each. */
export function unmatchedPatterns(names: readonly string[], choice: ToolFilter): string[] {
  return (['includeTools', 'excludeTools'] as const).flatMap((member) =>
    (choice[member] ?? [])
      .filter((pattern) => !names.some((name) => matches(pattern, name)))
      .map((pattern) => `"${member}" of its entry names ${JSON.stringify(pattern)}, which it does not list`),
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((it) => typeof it === 'string');
}

/** Matches `*` in linear time: the literal parts must occur in the name in order. */
function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
