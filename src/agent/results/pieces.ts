import type { ImageType } from './image-format.ts';

/** A part of a result before the limit is applied. */
export type Piece = TextPiece | ImagePiece;

export type TextPiece = {
  readonly kind: 'text';
  /** Added before the text: what it is and which server it comes from. */
  readonly label?: string;
  readonly text: string;
  /** The file with the data that the text describes. */
  readonly saved?: SavedFile;
};

export type ImagePiece = {
  readonly kind: 'image';
  readonly label?: string;
  readonly image: ModelImage;
  readonly saved: SavedFile;
};

/** The path of saved data, or why it could not be saved. */
export type SavedFile = { readonly path: string } | { readonly fault: string };

export function textOf({ label, text }: TextPiece): string {
  return label === undefined ? text : `${label} ${text}`;
}

/** The text beside an image that is shown; undefined if it could not be saved. */
export function besideImage({ saved }: ImagePiece): string | undefined {
  return 'path' in saved ? `[Image: source: ${saved.path}]` : undefined;
}

/** The text that replaces an image that is not shown. */
export function insteadOfImage(image: ImagePiece, why: string): TextPiece {
  const { label, saved } = image;
  const at = besideImage(image) ?? `[Image that could not be saved: ${'fault' in saved ? saved.fault : ''}]`;
  return { kind: 'text', ...(label !== undefined && { label }), text: `${at} Not shown: ${why}.` };
}

/** Whether a text is empty or white space, which model APIs reject. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

export type ModelText = { type: 'text'; text: string };
export type ModelImage = { type: 'image'; source: { type: 'base64'; media_type: ImageType; data: string } };

/** The content of a `tool_result` block of the Messages API. */
export type ModelContent = { content: string | (ModelText | ModelImage)[]; isError: boolean };
