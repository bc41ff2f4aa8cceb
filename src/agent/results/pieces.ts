import type { ImageType } from './images.ts';

/** What one part of a result comes to before anybody has looked at how much there is of all. */
export type Piece = TextPiece | ImagePiece;

export type TextPiece = {
  readonly kind: 'text';
  /** Ours, before the text: what it is and where it comes from. */
  readonly label?: string;
  readonly text: string;
};

export type ImagePiece = {
  readonly kind: 'image';
  readonly label?: string;
  readonly image: ModelImage;
  readonly saved: SavedFile;
};

/** Where data went, or why it could not. */
export type SavedFile = { readonly path: string } | { readonly fault: string };

export function textOf({ label, text }: TextPiece): string {
  return label === undefined ? text : `${label} ${text}`;
}

/** The words beside an image that is shown; none if it is nowhere else. */
export function besideImage({ saved: kept }: ImagePiece): string | undefined {
  return 'path' in kept ? `[Image: source: ${kept.path}]` : undefined;
}

/** The words in the place of an image that is not shown. */
export function insteadOfImage({ label, saved: kept }: ImagePiece, why: string): TextPiece {
  const at =
    'path' in kept ? `[Image: source: ${kept.path}]` : `[Image that could not be saved: ${kept.fault}]`;
  return { kind: 'text', ...(label !== undefined && { label }), text: `${at} It is not shown: ${why}.` };
}

/** A text without anything to read in it, which models' interfaces refuse. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

export type ModelText = { type: 'text'; text: string };
export type ModelImage = { type: 'image'; source: { type: 'base64'; media_type: ImageType; data: string } };

/** What a `tool_result` block of the Messages API carries. */
export type ModelContent = { content: string | (ModelText | ModelImage)[]; isError: boolean };
