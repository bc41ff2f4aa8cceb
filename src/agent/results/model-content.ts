import type { ImageType } from './image-type.ts';

export type ModelText = { type: 'text'; text: string };
export type ModelImage = { type: 'image'; source: { type: 'base64'; media_type: ImageType; data: string } };

/** What a `tool_result` block of the Messages API carries. */
export type ModelContent = { content: string | (ModelText | ModelImage)[]; isError: boolean };
