import type { UserBlock } from '../../protocol/agent-message.ts';
import { checkImage, imageSize, imageType, isImageType } from '../results/image-format.ts';
import type { ModelMessage, ModelRequest } from './model.ts';

/** Removes what makes a model API reject the whole request: too many images, and lone surrogates in texts. */
export function sanitizeRequest(request: ModelRequest): ModelRequest {
  const { system, tools, messages } = request;
  return {
    ...request,
    system: system.toWellFormed(),
    tools: wellFormed(tools),
    messages: wellFormed(limitImages(messages)),
  };
}

/** Joins user messages that follow each other: a failed turn leaves its prompt without a reply. */
export function joinTurns(messages: readonly ModelMessage[]): ModelMessage[] {
  const joined: ModelMessage[] = [];
  for (const message of messages) {
    const before = joined.at(-1);
    // Replies are never joined: a model may have signed their content.
    if (before?.role === 'user' && message.role === 'user') {
      joined[joined.length - 1] = { role: 'user', content: [...before.content, ...message.content] };
    } else joined.push(message);
  }
  return joined;
}

/** The maximum number of images in a request. */
const MAX_IMAGES = 100;
/** The maximum number of images in a request that contains a large one. */
const MAX_IMAGES_IF_LARGE = 20;
/** Pixels on a side, above which an image is large. */
const LARGE_SIDE = 2_000;
/** The maximum size of all images in base64; a whole request may have 32 MB. */
const MAX_IMAGE_DATA = 20_000_000;
/** How many base64 characters are searched for the dimensions of an image. */
const HEAD = 65_536;

type Image = Extract<UserBlock, { type: 'image' }>;

/**
 * Drops the oldest images if there are more than one request may hold. Images are dropped in steps of half the limit, so
 * that the prompt cache holds between steps. The path of an image from a tool result stays, so it can be read again.
 */
export function limitImages(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const images = messages.flatMap((message) => (message.role === 'user' ? imagesIn(message.content) : []));
  // The newest image is always kept: the prompt is probably about it.
  let surplus = Math.min(Math.max(tooMany(images), tooLong(images)), images.length - 1);
  if (surplus <= 0) return messages;
  return messages.map((message) => mapImages(message, (image) => (surplus-- > 0 ? LEFT_OUT : image)));
}

/** Replaces images of a prompt whose data is no image by a text, and corrects types that do not fit the data. */
export function checkImages(prompt: readonly UserBlock[]): readonly UserBlock[] {
  return imagesIn(prompt).length === 0 ? prompt : mapBlocks(prompt, checked);
}

function checked(image: Image): UserBlock {
  const { media_type: declared, type } = image.source;
  // Some endpoints accept further types.
  if (type !== 'base64' || typeof declared !== 'string' || !isImageType(declared)) return image;
  const seen = checkImage(Buffer.from(dataOf(image), 'base64'));
  if (seen.kind === 'none') return NOT_AN_IMAGE;
  return seen.type === declared ? image : { ...image, source: { ...image.source, media_type: seen.type } };
}

/** `latest`: the images since the last reply, which no accepted request contained. */
export type RemovedImages = 'latest' | 'all';

/** Replaces images that the model API rejected by a text; undefined if there are none. */
export function withoutImages(
  messages: readonly ModelMessage[],
  which: RemovedImages,
): readonly ModelMessage[] | undefined {
  const from = which === 'all' ? 0 : messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  const hasImages = ({ role, content }: ModelMessage) => role === 'user' && imagesIn(content).length > 0;
  if (!messages.slice(from).some(hasImages)) return undefined;
  return messages.map((message, at) => (at < from ? message : mapImages(message, () => REMOVED)));
}

function imagesIn(blocks: readonly UserBlock[]): Image[] {
  return blocks.flatMap((block) => {
    if (block.type === 'image') return [block];
    return block.type === 'tool_result' && Array.isArray(block.content) ? imagesIn(block.content) : [];
  });
}

/** How many of the oldest images to drop because of their number. A large image counts even after it is dropped. */
function tooMany(images: readonly Image[]): number {
  if (images.length <= MAX_IMAGES_IF_LARGE) return 0;
  const max = images.some(isLarge) ? MAX_IMAGES_IF_LARGE : MAX_IMAGES;
  return stepsOf(images.length - max, max / 2);
}

/** How many of the oldest images to drop because of their size. */
function tooLong(images: readonly Image[]): number {
  const total = images.reduce((sum, image) => sum + dataOf(image).length, 0);
  const surplus = stepsOf(total - MAX_IMAGE_DATA, MAX_IMAGE_DATA / 2);
  let gone = 0;
  let count = 0;
  while (gone < surplus) gone += dataOf(images[count++] as Image).length;
  return count;
}

function stepsOf(surplus: number, step: number): number {
  return Math.max(0, Math.ceil(surplus / step) * step);
}

/** An image of unknown dimensions counts as large. */
function isLarge(image: Image): boolean {
  const bytes = Buffer.from(dataOf(image).slice(0, HEAD), 'base64');
  const type = imageType(bytes);
  const size = type && imageSize(bytes, type);
  return !size || Math.max(size.width, size.height) > LARGE_SIDE;
}

function dataOf({ source }: Image): string {
  return source.type === 'base64' && typeof source.data === 'string' ? source.data : '';
}

/** `change` is called once per image, in order. A message without images is returned unchanged, as the same object. */
function mapImages(message: ModelMessage, change: (image: Image) => UserBlock): ModelMessage {
  if (message.role !== 'user' || imagesIn(message.content).length === 0) return message;
  return { ...message, content: mapBlocks(message.content, change) };
}

function mapBlocks(blocks: readonly UserBlock[], change: (image: Image) => UserBlock): UserBlock[] {
  return blocks.map((block) => {
    if (block.type === 'image') return change(block);
    return block.type === 'tool_result' && Array.isArray(block.content)
      ? { ...block, content: mapBlocks(block.content, change) }
      : block;
  });
}

const LEFT_OUT: UserBlock = { type: 'text', text: '[Earlier image omitted]' };
const NOT_AN_IMAGE: UserBlock = {
  type: 'text',
  text: '[Image omitted: its data is not a PNG, JPEG, GIF or WebP image]',
};
const REMOVED: UserBlock = {
  type: 'text',
  text: '[Image removed: the model API could not process it. Do not send or read the same image again.]',
};
/** Maximum depth in which surrogates are replaced; deeper values are left unchanged. */
const MAX_DEPTH = 500;

/**
 * Replaces lone surrogates, which model APIs reject, in all texts of a value. Well-formed values are returned unchanged, as
 * the same object.
 */
export function wellFormed<T>(value: T): T {
  return replaceSurrogates(value, 0) as T;
}

function replaceSurrogates(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => replaceSurrogates(item, depth + 1));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  const entries = Object.entries(value);
  const replaced = entries.map(
    ([name, member]) => [name.toWellFormed(), replaceSurrogates(member, depth + 1)] as const,
  );
  const isSame = replaced.every(
    ([name, member], at) => name === entries[at]?.[0] && member === entries[at]?.[1],
  );
  return isSame ? value : Object.fromEntries(replaced);
}
