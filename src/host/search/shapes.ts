/** One thing the query is about, and every term that would mean it: 1 is the word itself, less is a guess. */
export type QueryTerm = { weight: number; options: ReadonlyMap<string, number> };

/** What is written in a form of its own says what it is. */
const SHAPES: readonly { shape: RegExp; meant: readonly string[] }[] = [
  {
    shape: /\bhttps?:\/\/|\b[a-z0-9-]+\.(?:com|org|net|io|dev|de|fr|co|ai|app)\b/i,
    meant: ['url', 'web', 'page', 'navigat', 'fetch'],
  },
  { shape: /[\w.+-]+@[\w-]+\.\w/, meant: ['email', 'user'] },
  { shape: /\b\d{1,3}(?:\.\d{1,3}){3}\b/, meant: ['ip', 'address'] },
  {
    shape:
      /\.(?:txt|md|json|ya?ml|csv|log|pdf|docx?|xlsx?|[jt]sx?|py|rb|go|rs|java|html?|css|png|jpe?g|svg|mp[34]|zip|toml|ini|xml)\b/i,
    meant: ['file'],
  },
];

/** What an address, a mailbox or the name of a file in a query lets one guess. */
export function readShapes(text: string): QueryTerm[] {
  return SHAPES.filter(({ shape }) => shape.test(text)).map(({ meant }) => ({
    weight: 0.7,
    options: new Map(meant.map((term) => [term, 0.6])),
  }));
}
