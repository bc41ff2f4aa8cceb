/** One `key=value` of a command line. */
export type Assignment = {
  readonly key: string;
  /** `json` was written `key:=…`, and is taken as it is; a text is typed by the schema. */
  readonly form: 'text' | 'json';
  /** `file` was written `key=@…`: the text is its path. */
  readonly source: 'word' | 'file';
  readonly text: string;
};

/** What the words after a tool's name say. */
export type Words = {
  /** A JSON object, or where it comes from; the assignments come on top of it. */
  readonly base?: { readonly source: 'word'; readonly text: string } | { readonly source: 'stdin' };
  readonly assignments: readonly Assignment[];
  readonly faults: readonly string[];
};

/** Reads `{…}`, `-`, `key=value`, `key:=json`, `key=@file` and `key:=@file`. */
export function readWords(words: readonly string[]): Words {
  const assignments: Assignment[] = [];
  const faults: string[] = [];
  let base: Words['base'];
  for (const word of words) {
    const isBase = word === '-' || word.trimStart().startsWith('{');
    if (isBase && base) faults.push(`${word === '-' ? '-' : 'the JSON'} comes after another whole input`);
    else if (word === '-') base = { source: 'stdin' };
    else if (isBase) base = { source: 'word', text: word };
    else {
      const assignment = readAssignment(word);
      if (assignment) assignments.push(assignment);
      else faults.push(`${JSON.stringify(word)} is no key=value, no key:=json and no JSON object`);
    }
  }
  return { ...(base && { base }), assignments, faults };
}

function readAssignment(word: string): Assignment | undefined {
  const at = word.indexOf('=');
  const isJson = word[at - 1] === ':';
  const key = word.slice(0, isJson ? at - 1 : at);
  if (at < 0 || key === '') return undefined;
  const value = word.slice(at + 1);
  const isFile = value.startsWith('@');
  return {
    key,
    form: isJson ? 'json' : 'text',
    source: isFile ? 'file' : 'word',
    text: isFile ? value.slice(1) : value,
  };
}
