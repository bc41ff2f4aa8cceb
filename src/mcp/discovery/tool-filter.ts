import { isRecord } from '../../base/json-value.ts';

/** Which tools of a server are offered, by the server's own names; `*` matches any characters. */
export type ToolFilter = {
  /** Only these. Default: all. */
  readonly includeTools?: readonly string[];
  /** Not these, even if included. */
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

/** Why the filters of an entry are invalid; undefined if they are valid. An invalid filter must not let all tools pass. */
export function toolFilterError(entry: Readonly<Record<string, unknown>>): string | undefined {
  const bad = (['includeTools', 'excludeTools'] as const).find(
    (name) => entry[name] !== undefined && !isTexts(entry[name]),
  );
  return bad && `"${bad}" must be a list of tool names`;
}

/** Whether the filter includes a tool. */
export function isIncluded(name: string, { includeTools, excludeTools }: ToolFilter): boolean {
  const isNamed = (patterns: readonly string[]) => patterns.some((pattern) => matches(pattern, name));
  return (includeTools === undefined || isNamed(includeTools)) && !isNamed(excludeTools ?? []);
}

/** The included tools; the same list if all are included. */
export function filterTools<T extends { readonly name: string }>(
  tools: readonly T[],
  choice: ToolFilter,
): readonly T[] {
  const chosen = tools.filter(({ name }) => isIncluded(name, choice));
  return chosen.length === tools.length ? tools : chosen;
}

/** A warning for each pattern that matches no tool, most likely a typo. */
export function unmatchedPatterns(names: readonly string[], choice: ToolFilter): string[] {
  return (['includeTools', 'excludeTools'] as const).flatMap((member) =>
    (choice[member] ?? [])
      .filter((pattern) => !names.some((name) => matches(pattern, name)))
      .map((pattern) => `"${member}" names ${JSON.stringify(pattern)}, which matches no tool of the server`),
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
