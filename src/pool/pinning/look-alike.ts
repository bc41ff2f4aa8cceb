/** A word that looks like another: letters that stand in for those of another alphabet. */
export type LookAlike = { readonly word: string; readonly letters: string };

/** Cyrillic, Greek, Armenian and other letters that most typefaces draw as a Latin one. */
const LOOKS_LATIN =
  /[аеорсухіјѕԁԛԝһӏѵкмтвнгпАВЕКМНОРСТУХІЈЅԌԚԜҺӀѴΑΒΕΖΗΙΚΜΝΟΡΤΥΧαονρυικτγϲϳοսոօցհԼՍՕᎪᏴᏟᎬᎻᎫᏦᏞᎷᎾᏢᏚᎢᏙᎳᏃ]/u;

/**
 * Words of a name in which Latin letters stand beside ones that only look Latin, or that look Latin altogether within a
 * name that is Latin elsewhere. Letters of other widths and styles that mean plain ones count, too.
 */
export function findLookAlikes(name: string): LookAlike[] {
  const words = name.match(/[\p{L}\p{M}]+/gu) ?? [];
  const isLatinElsewhere = words.some((word) => /^[A-Za-z]+$/.test(word));
  return words.flatMap((word) => {
    const letters = [...word].filter((letter) => LOOKS_LATIN.test(letter) || isStyled(letter));
    if (letters.length === 0) return [];
    const looking = new Set(letters);
    const others = [...word].filter((letter) => !looking.has(letter));
    const isMixed = others.some((letter) => /\p{Script=Latin}/u.test(letter));
    const isWhole = others.length === 0 && (isLatinElsewhere || letters.every(isStyled));
    return isMixed || isWhole ? [{ word, letters: [...looking].join('') }] : [];
  });
}

/** Full-width letters, those of mathematics, and the like. */
function isStyled(letter: string): boolean {
  return !/[A-Za-z]/.test(letter) && /^[A-Za-z]+$/.test(letter.normalize('NFKC'));
}
