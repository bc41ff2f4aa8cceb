/** Words of other languages and the English ones tools use for them. */
export type Dictionary = {
  /** By language: a word, or a phrase joined by spaces, to its English words. */
  words: Map<string, Map<string, readonly string[]>>;
  /** By language: words that say nothing about a need. */
  stopWords: Map<string, Set<string>>;
};

/** The columns of `data/languages.txt`, in their order. */
const LANGUAGES = ['de', 'fr', 'es', 'pt', 'it', 'nl', 'ru', 'zh', 'ja', 'ko'] as const;

/** Adds a line of `data/languages.txt`, whose head says how it is written. */
export function addTranslations(line: string, { words }: Dictionary): void {
  const [english = '', ...cells] = line.split('|');
  const meant = english.trim().split(' ');
  for (const [at, cell] of cells.entries()) {
    const language = LANGUAGES[at] ?? '';
    const known = words.get(language) ?? new Map<string, readonly string[]>();
    words.set(language, known);
    for (const word of cell.trim().split(' ')) {
      if (word === '') continue;
      const phrase = plain(word.replaceAll('_', ' '));
      const before = known.get(phrase);
      known.set(phrase, before === undefined ? meant : [...new Set([...before, ...meant])]);
    }
  }
}

/** Adds a line of `data/stop-words.txt`. */
export function addStopWords(line: string, { stopWords }: Dictionary): void {
  const [language = '', ...list] = line.split(' ');
  stopWords.set(language, new Set(list.map(plain)));
}

/** Without accents, since people leave them out; the marks of Japanese and Korean are letters. */
export function plain(word: string): string {
  return word
    .toLowerCase()
    .normalize('NFD')
    .replace(/(?<=[a-zа-я])[\u0300-\u036f]/g, '')
    .normalize('NFC');
}
