/** Why a server cannot be called so, or undefined if it can. Names of every script are fine. */
export function nameFault(name: string): string | undefined {
  if (name.trim() === '') return 'a server needs a name that is not empty';
  if (name.length > LONGEST) return `the name of a server has at most ${LONGEST} characters; shorten it`;
  if (!name.isWellFormed() || UNSEEN.test(name))
    return 'the name of a server has no control characters; take them out';
  if (name.startsWith('-'))
    return 'the name of a server does not begin with "-", which commands take for a flag; rename it';
  if (name === '__proto__')
    return 'a server cannot have this name, which JavaScript keeps for itself; rename it';
  return undefined;
}

const LONGEST = 200;

/** Control characters, ends of lines, and what turns the direction of a text: a name must look like what it is. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
