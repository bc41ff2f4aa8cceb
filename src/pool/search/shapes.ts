/** One thing the query is about, and every term that would mean it: 1 is the word itself, less is a guess. */
export type QueryTerm = { weight: number; options: ReadonlyMap<string, number> };

/** What is written in a form of its own says what it is; terms are stems. */
const SHAPES: readonly (readonly [shape: RegExp, meant: string])[] = [
  [/\bhttps?:\/\/|\b[a-z0-9-]+\.(?:com|org|net|io|dev|de|fr|co|ai|app)\b/i, 'url web page navigat fetch'],
  [/\b(?:youtube\.com|youtu\.be)\//i, 'youtub video'],
  [/[\w.+-]+@[\w-]+\.\w/, 'email user'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}\b/, 'ip address'],
  [/-?\b\d{1,2}\.\d{3,},\s*-?\d{1,3}\.\d{3,}\b/, 'coordinat revers geocod latitud location'],
  // Seconds, or milliseconds, since 1970.
  [/\b1\d{9}(?:\d{3})?\b/, 'timestamp unix date time'],
  [/(?<!\w)\+\d[\d ()-]{7,}\d\b/, 'phone number sms call'],
  [/\bselect (?:\*|count\(|distinct )|\bSELECT [\w.,* ()]+ FROM\b/, 'sql query execut databas'],
  [/\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b/, 'commit'],
  [/(?<![\w&])#\d+\b|\b[A-Z]{2,8}-\d+\b/, 'issu ticket pull request'],
  [/\b10\.\d{4,}\/\S|\b\d{4}\.\d{4,5}\b/, 'paper arxiv doi'],
  [
    /\.(?:txt|md|json|ya?ml|csv|log|pdf|docx?|xlsx?|[jt]sx?|py|rb|go|rs|java|html?|css|png|jpe?g|svg|mp[34]|zip|toml|ini|xml)\b/i,
    'file',
  ],
  [/\.(?:png|jpe?g|gif|webp|svg|heic)\b/i, 'imag'],
  [/\.(?:mp4|mov|mkv|webm)\b/i, 'video'],
  [/\.(?:mp3|wav|m4a|ogg)\b/i, 'audio'],
  [/\.xlsx?\b/i, 'excel workbook worksheet sheet'],
  [/\.docx?\b/i, 'word document'],
  [/\.pdf\b/i, 'pdf'],
  [/\.csv\b/i, 'csv tabl'],
];

/** What an address, a number or the name of a file in a query lets one guess. */
export function readShapes(text: string): QueryTerm[] {
  return SHAPES.filter(([shape]) => shape.test(text)).map(([, meant]) => ({
    weight: 0.7,
    options: new Map(meant.split(' ').map((term) => [term, 0.6])),
  }));
}
