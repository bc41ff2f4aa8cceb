/** Real names have a few dozen characters; whatever is made of one takes its time with every character. */
const LONGEST = 1_024;

/** The name of a tool or a prompt, or why it is none. */
export function readName(name: unknown): { readonly name: string } | { name?: string; fault: string } {
  if (typeof name !== 'string' || name === '') return { fault: '"name" must be a non-empty string' };
  return name.length > LONGEST ? { name, fault: `"name" is longer than ${LONGEST} characters` } : { name };
}
