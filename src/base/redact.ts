const SECRET_KEY =
  /(^|[-_.])(token|secret|password|passwd|credential|authorization|cookie|api[-_]?key|access[-_]?key|private[-_]?key)s?($|[-_.])|token$|secret$|apikey$|password$/i;
const SECRET_VALUE =
  /\b(sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{16,}|xox[abprs]-[A-Za-z0-9-]{8,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)|\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/g;

/** Members whose every value is private: environment variables and request headers. */
const SECRET_MAPS = new Set(['env', 'headers']);

/** JSON text of a value for people's eyes: secrets by key name, by shape, and all of `env` and `headers` are masked. */
export function redactedJson(value: unknown): string {
  return JSON.stringify(value, (key, member: unknown) => {
    if (typeof member === 'bigint') return String(member);
    if (typeof member === 'string') return SECRET_KEY.test(key) ? '[redacted]' : redactText(member);
    if (SECRET_MAPS.has(key) && typeof member === 'object' && member !== null && !Array.isArray(member)) {
      return Object.fromEntries(Object.keys(member).map((name) => [name, '[redacted]']));
    }
    return member;
  });
}

/** Masks what looks like a credential inside free text. */
export function redactText(text: string): string {
  return text.replace(SECRET_VALUE, (match, _bare, scheme?: string) =>
    scheme ? `${scheme} [redacted]` : `${match.slice(0, 3)}[redacted]`,
  );
}
