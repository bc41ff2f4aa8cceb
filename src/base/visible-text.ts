/**
 * Characters that a terminal obeys or that cannot be seen: C0 and C1 controls (CSI and OSC have one-character forms
 * there), DEL, separators that break lines, marks that reorder text, zero-width characters, tag characters, and halves of
 * surrogate pairs. Joiners are not among them: emoji and many scripts are written with them.
 */
export const UNSEEN =
  /\p{Cc}|[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** A name or path as it can be shown: it neither breaks a line, nor steers a terminal, nor turns the direction of a text. */
export function visibleText(text: string): string {
  return text.replaceAll(UNSEEN, escaped);
}

/** JSON text with every invisible character escaped, joiners and variation selectors included: it stays the same JSON. */
export function visibleJson(json: string): string {
  return json.replaceAll(INVISIBLE, (character) => (character === '\n' ? character : escaped(character)));
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** As JSON escapes it, in two parts where it takes two. */
function escaped(character: string): string {
  let text = '';
  for (let at = 0; at < character.length; at++) {
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return text;
}
