const MOST_ALTERNATIVES = 256;

/** `a{b,c{d,e}}` as `ab`, `acd`, `ace`; braces without a comma or without an end stand for themselves. */
export function expandBraces(pattern: string): readonly string[] | string {
  let done: string[] = [];
  let open = [pattern];
  while (open.length > 0) {
    const expanded = open.map((it) => ({ it, parts: expandFirst(it) }));
    done = [...done, ...expanded.filter(({ parts }) => parts === undefined).map(({ it }) => it)];
    open = expanded.flatMap(({ parts }) => parts ?? []);
    if (done.length + open.length > MOST_ALTERNATIVES)
      return `it has more than ${MOST_ALTERNATIVES} alternatives in braces`;
  }
  return done;
}

/** The pattern once for each alternative of its first group; undefined when there is no group. */
function expandFirst(pattern: string): string[] | undefined {
  for (let start = pattern.indexOf('{'); start !== -1; start = pattern.indexOf('{', start + 1)) {
    const group = pattern[start - 1] === '\\' ? undefined : groupAt(pattern, start);
    if (group && group.alternatives.length > 1) {
      const rest = pattern.slice(group.end + 1);
      return group.alternatives.map((it) => pattern.slice(0, start) + it + rest);
    }
  }
  return undefined;
}

function groupAt(pattern: string, start: number) {
  const alternatives: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if ((character === ',' && depth === 1) || (character === '}' && depth === 0)) {
      alternatives.push(pattern.slice(from, at));
      from = at + 1;
    }
    if (depth === 0) return { alternatives, end: at };
  }
  return undefined;
}
