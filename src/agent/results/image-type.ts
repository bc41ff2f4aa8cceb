export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** What kind of image the bytes are, by their first ones: a name may lie, and a model's interface refuses a wrong type. */
export function imageType(bytes: Buffer): ImageType | undefined {
  const head = bytes.subarray(0, 12).toString('latin1');
  return SIGNATURES.find(([signature]) => signature.test(head))?.[1];
}

/** Whether data that really is of this type could be shown. */
export function isViewable(mimeType: string): boolean {
  return SIGNATURES.some(([, type]) => type === mimeType);
}

const SIGNATURES: readonly (readonly [RegExp, ImageType])[] = [
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
];
