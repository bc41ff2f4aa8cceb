import type { UserBlock } from '../../protocol/agent-message.ts';
import { imageSize, imageType } from '../results/images.ts';

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
  const isDropped = () => surplus-- > 0;
  return messages.map((message) =>
    message.role === 'user' ? { ...message, content: without(message.content, isDropped) } : message,
  );
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

/** `isDropped` is called once per image, in order. */
function without(blocks: readonly UserBlock[], isDropped: () => boolean): UserBlock[] {
  return blocks.map((block) => {
    if (block.type === 'image') return isDropped() ? LEFT_OUT : block;
    return block.type === 'tool_result' && Array.isArray(block.content)
      ? { ...block, content: without(block.content, isDropped) }
      : block;
  });
}

const LEFT_OUT: UserBlock = { type: 'text', text: '[Earlier image omitted]' };
/** Deeper values are left unchanged. */
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
