/** The ending of a file for data of this type, out of this table only: no part of a name comes from a server. */
export function extensionOf(mimeType: string): string {
  const type = mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return EXTENSIONS.get(type) ?? (type.startsWith('text/') ? '.txt' : '.bin');
}

const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['image/png', '.png'],
  ['image/jpeg', '.jpg'],
  ['image/gif', '.gif'],
  ['image/webp', '.webp'],
  ['image/svg+xml', '.svg'],
  ['image/bmp', '.bmp'],
  ['image/tiff', '.tiff'],
  ['image/avif', '.avif'],
  ['image/heic', '.heic'],
  ['image/x-icon', '.ico'],
  ['audio/wav', '.wav'],
  ['audio/x-wav', '.wav'],
  ['audio/mpeg', '.mp3'],
  ['audio/mp4', '.m4a'],
  ['audio/ogg', '.ogg'],
  ['audio/flac', '.flac'],
  ['audio/webm', '.weba'],
  ['video/mp4', '.mp4'],
  ['video/webm', '.webm'],
  ['application/pdf', '.pdf'],
  ['application/json', '.json'],
  ['application/xml', '.xml'],
  ['application/zip', '.zip'],
  ['application/gzip', '.gz'],
  ['application/x-tar', '.tar'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', '.docx'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', '.xlsx'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', '.pptx'],
  ['text/csv', '.csv'],
  ['text/html', '.html'],
  ['text/markdown', '.md'],
  ['text/xml', '.xml'],
]);
