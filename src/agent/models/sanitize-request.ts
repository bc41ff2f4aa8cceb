import type { UserBlock } from '../../protocol/agent-message.ts';
import { imageSize, imageType } from '../results/images.ts';

import type { ModelMessage, ModelRequest } from './model.ts';

/** A request without what would make an interface refuse it as a whole, whatever tools and servers have put into it. */
export function sanitizeRequest(request: ModelRequest): ModelRequest {
  const { system, tools, messages } = request;
  return {
    ...request,
    system: system.toWellFormed(),
    tools: wellFormed(tools),
    messages: wellFormed(limitImages(messages)),
  };
}

/** Interfaces of models refuse more images in a request, */
const MOST = 100;
/** or, if any of them is large, more than this. */
const MOST_LARGE = 20;
/** Pixels on a side, above which an image is large. */
const LARGE_SIDE = 2_000;
/** Of all images, in base64; a whole request may have 32 MB. */
const MOST_DATA = 20_000_000;
/** In characters of base64: the size of an image stands within. */
const HEAD = 65_536;

type Image = Extract<UserBlock, { type: 'image' }>;

/**
 * The conversation without its oldest images, where it has more than one request may hold. They go half of what may stay
 * at a time: a prompt cache holds as long as what was sent before stays the same, and so it does until the next half goes.
 * An image of a tool's result has its path beside it, and can be read again.
 */
export function limitImages(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const images = messages.flatMap((message) => (message.role === 'user' ? imagesIn(message.content) : []));
  // The newest is what the model is asked about, and stays whatever it takes.
  let gone = Math.min(Math.max(tooMany(images), tooLong(images)), images.length - 1);
  if (gone <= 0) return messages;
  const isGone = () => gone-- > 0;
  return messages.map((message) =>
    message.role === 'user' ? { ...message, content: without(message.content, isGone) } : message,
  );
}

function imagesIn(blocks: readonly UserBlock[]): Image[] {
  return blocks.flatMap((block) => {
    if (block.type === 'image') return [block];
    return block.type === 'tool_result' && Array.isArray(block.content) ? imagesIn(block.content) : [];
  });
}

/** How many of the oldest go for their number. One that is large counts for the whole conversation, also once it is gone. */
function tooMany(images: readonly Image[]): number {
  if (images.length <= MOST_LARGE) return 0;
  const most = images.some(isLarge) ? MOST_LARGE : MOST;
  return stepsOf(images.length - most, most / 2);
}

/** How many of the oldest go for their data. */
function tooLong(images: readonly Image[]): number {
  const total = images.reduce((sum, image) => sum + dataOf(image).length, 0);
  const surplus = stepsOf(total - MOST_DATA, MOST_DATA / 2);
  let gone = 0;
  let count = 0;
  while (gone < surplus) gone += dataOf(images[count++] as Image).length;
  return count;
}

/** As many as there are too many, in whole steps. */
function stepsOf(surplus: number, step: number): number {
  return Math.max(0, Math.ceil(surplus / step) * step);
}

/** One whose size cannot be seen may be large. */
function isLarge(image: Image): boolean {
  const bytes = Buffer.from(dataOf(image).slice(0, HEAD), 'base64');
  const type = imageType(bytes);
  const size = type && imageSize(bytes, type);
  return !size || Math.max(size.width, size.height) > LARGE_SIDE;
}

function dataOf({ source }: Image): string {
  return source.type === 'base64' && typeof source.data === 'string' ? source.data : '';
}

/** `isGone` is asked about one image after the other. */
function without(blocks: readonly UserBlock[], isGone: () => boolean): UserBlock[] {
  return blocks.map((block) => {
    if (block.type === 'image') return isGone() ? LEFT_OUT : block;
    return block.type === 'tool_result' && Array.isArray(block.content)
      ? { ...block, content: without(block.content, isGone) }
      : block;
  });
}

const LEFT_OUT: UserBlock = { type: 'text', text: '[An earlier image was left out]' };
/** Deeper values are left as they are. */
const DEEPEST = 500;

/**
 * Data without half of a character that takes two units, which interfaces of models refuse; it would be in every later
 * request as well. What is well-formed stays the same object.
 */
export function wellFormed<T>(value: T): T {
  return mended(value, 0) as T;
}

function mended(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => mended(item, depth + 1));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  const entries = Object.entries(value);
  const told = entries.map(([name, member]) => [name.toWellFormed(), mended(member, depth + 1)] as const);
  const isSame = told.every(([name, member], at) => name === entries[at]?.[0] && member === entries[at]?.[1]);
  return isSame ? value : Object.fromEntries(told);
}
