/** The common part of a word's forms, so that `files`, `filing` and `filed` meet; not always a word itself. */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  return IRREGULAR[word] ?? oneSpelling(withoutEnding(withoutPlural(word)));
}

const IRREGULAR: Readonly<Record<string, string>> = {
  sent: 'send',
  made: 'make',
  wrote: 'writ',
  written: 'writ',
  found: 'find',
  built: 'build',
  bought: 'buy',
  paid: 'pay',
  spent: 'spend',
  kept: 'keep',
  took: 'take',
  taken: 'take',
  gone: 'go',
  went: 'go',
  said: 'say',
  told: 'tel',
  sold: 'sel',
  held: 'hold',
  lost: 'lose',
  drawn: 'draw',
  drew: 'draw',
  shown: 'show',
  chosen: 'choos',
  broken: 'break',
  people: 'person',
  children: 'child',
  indices: 'index',
  matrices: 'matrix',
  analysis: 'analyz',
  news: 'news',
  embed: 'embed',
  speed: 'speed',
  setting: 'setting',
  settings: 'setting',
  building: 'building',
  recording: 'recording',
  recordings: 'recording',
  listing: 'listing',
  listings: 'listing',
  grey: 'gray',
  photos: 'photo',
};

function withoutPlural(word: string): string {
  if (/(?:ss|us|is)$/.test(word)) return word;
  if (/(?:[^aeiou]|qu)ies$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:x|ch|sh|ss|zz)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') ? word.slice(0, -1) : word;
}

function withoutEnding(word: string): string {
  for (const ending of ['ing', 'ed']) {
    if (!word.endsWith(ending)) continue;
    const root = word.slice(0, -ending.length);
    if (root.length < 3 || !/[aeiouy]/.test(root)) continue;
    if (ending === 'ed' && root.endsWith('i')) return `${root.slice(0, -1)}y`;
    // `moved` has lost its e, `fixed` has none, `adding` has two letters of its own.
    if (root.length === 3) return /[^aeiou][aeiou][^aeiouwxy]$/.test(root) ? `${root}e` : root;
    if (/([bdgklmnprt])\1$/.test(root)) return root.slice(0, -1);
    return withoutE(root);
  }
  return withoutE(word);
}

function withoutE(word: string): string {
  return word.length > 4 ? word.replace(/(?<=[^aeiou])e$/, '') : word;
}

/** British to American, on what is left of a word. */
function oneSpelling(root: string): string {
  return root
    .replace(/(?<=.{2})our(?=$|it|abl)/, 'or')
    .replace(/(?<=.{3})is(?=$|ation|er$)/, 'iz')
    .replace(/(?<=[ao])lys(?=$|er$)/, 'lyz')
    .replace(/^centr$/, 'center')
    .replace(/(?<=log)u$|(?<=log)ue$/, '')
    .replace(/ll$/, 'l');
}
