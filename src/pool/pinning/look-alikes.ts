/** A word with letters that look like those of another alphabet. */
type LookAlike = { readonly word: string; readonly letters: string };

/**
 * Words that mix Latin letters with look-alikes, or that consist of look-alikes within an otherwise Latin name. Full-width
 * and mathematical variants of Latin letters count as look-alikes.
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

/** Cyrillic, Greek, Armenian and other letters that look like Latin ones in most fonts. */
const LOOKS_LATIN =
  /[аеорсухіјѕԁԛԝһӏѵкмтвнгпАВЕКМНОРСТУХІЈЅԌԚԜҺӀѴΑΒΕΖΗΙΚΜΝΟΡΤΥΧαονρυικτγϲϳοսոօցհԼՍՕᎪᏴᏟᎬᎻᎫᏦᏞᎷᎾᏢᏚᎢᏙᎳᏃ]/u;

/** Full-width letters, mathematical letters and similar variants of Latin letters. */
function isStyled(letter: string): boolean {
  return !/[A-Za-z]/.test(letter) && /^[A-Za-z]+$/.test(letter.normalize('NFKC'));
}
