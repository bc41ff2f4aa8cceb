export type ModelText = { type: 'text'; text: string };
export type ModelImage = { type: 'image'; source: { type: 'base64'; media_type: string; data: string } };

/** What a `tool_result` block of the Messages API carries. */
export type ModelContent = { content: string | (ModelText | ModelImage)[]; isError: boolean };

/** Whether a model can look at data of this type; anything else it is told about in words. */
export function isViewable(mimeType: string): boolean {
  return VIEWABLE.has(mimeType);
}

const VIEWABLE = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
