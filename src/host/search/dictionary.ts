/** Words of other languages and the English ones tools use for them. */
export type Dictionary = {
  /** By language: a word, or a phrase joined by spaces, to its English words. */
  words: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
  /** By language: words that say nothing about a need. */
  stopWords: ReadonlyMap<string, ReadonlySet<string>>;
};

/** The columns of `data/languages.txt`, in their order. */
const LANGUAGES = ['de', 'fr', 'es', 'pt', 'it', 'nl', 'ru', 'zh', 'ja', 'ko'] as const;

/** Reads the table of words and the list of stop words in `data/`. */
export function parseDictionary(table: string, stops: string): Dictionary {
  const words = new Map<string, Map<string, string[]>>(LANGUAGES.map((language) => [language, new Map()]));
  for (const [english = '', ...cells] of lines(table).map((line) => line.split('|'))) {
    const meant = english.trim().split(' ');
    cells.forEach((cell, at) => {
      const known = words.get(LANGUAGES[at] ?? '');
      for (const word of cell.trim().split(' ').filter(Boolean)) {
        const phrase = plain(word.replaceAll('_', ' '));
        known?.set(phrase, [...new Set([...(known.get(phrase) ?? []), ...meant])]);
      }
    });
  }
  const stopWords = new Map(
    lines(stops).map((line) => {
      const [language = '', ...list] = line.split(' ');
      return [language, new Set(list.map(plain))];
    }),
  );
  return { words, stopWords };
}

/** Without accents, since people leave them out; the marks of Japanese and Korean are letters. */
export function plain(word: string): string {
  return word
    .toLowerCase()
    .normalize('NFD')
    .replace(/(?<=[a-zа-я])[\u0300-\u036f]/g, '')
    .normalize('NFC');
}

function lines(source: string): string[] {
  return source.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}
