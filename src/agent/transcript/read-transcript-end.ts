import { type FileHandle, open } from 'node:fs/promises';
import { readFromCompaction, type SessionContents } from './read-transcript.ts';
import { type Header, parseEntry, parseHeader } from './transcript-entry.ts';

/** Minimum size of a file that is read from its end; smaller files are read as a whole. */
const MIN_BYTES = 512 * 1024;
/** How much is searched at a time: for the compaction, which is near the end, and for metadata, which may be anywhere. */
const STEP_BYTES = { compaction: 1024 * 1024, meta: 8 * 1024 * 1024 };
/** Maximum length of the header and of lines with metadata. */
const MAX_LINE_BYTES = 64 * 1024;
/**
 * Maximum size of the part from the last compaction on, which normally fits into a context window; if it is larger, the
 * whole file is read.
 */
const MAX_END_BYTES = 64 * 1024 * 1024;

/**
 * Reads a large transcript of Toolplane's agent from its last compaction on. Lines before it are searched for the title and
 * the tag, and not parsed. Undefined if the whole file has to be read.
 */
export async function readTranscriptEnd(path: string): Promise<SessionContents | undefined> {
  await using file = await open(path);
  const { size } = await file.stat();
  if (size < MIN_BYTES) return undefined;
  const header = await readHeader(file);
  if (!header) return undefined;
  const start = await findLine(file, 'compaction', size);
  if (start === undefined || size - start > MAX_END_BYTES) return undefined;
  const text = (await readPart(file, start, size)).toString();
  return readFromCompaction(text, { header, ...(await readMetadata(file, size)) });
}

async function readHeader(file: FileHandle): Promise<Header | undefined> {
  return parseHeader(await readLine(file, 0));
}

/** The last title and the last tag: other processes may add them at any time. */
async function readMetadata(file: FileHandle, size: number): Promise<Pick<SessionContents, 'title' | 'tag'>> {
  let title: string | undefined;
  let tag: string | undefined;
  let at = await findLine(file, 'meta', size);
  while (at !== undefined) {
    const entry = parseEntry(await readLine(file, at));
    if (entry?.type === 'meta') {
      title ??= entry.title;
      tag ??= entry.tag;
    }
    if (title !== undefined && tag !== undefined) break;
    at = await findLine(file, 'meta', at);
  }
  return { title, tag };
}

/** The start of the last line with an entry of a type before a position. No text in an entry contains a line break. */
async function findLine(
  file: FileHandle,
  type: keyof typeof STEP_BYTES,
  before: number,
): Promise<number | undefined> {
  const pattern = Buffer.from(`\n{"type":"${type}",`);
  const step = STEP_BYTES[type];
  const buffer = Buffer.allocUnsafe(Math.min(before, step + pattern.length));
  for (let end = before; end > 0; end -= step) {
    const from = Math.max(0, end - step);
    // The pattern may begin in this part and end in the next one.
    const part = await readPart(file, from, Math.min(before, end + pattern.length - 1), buffer);
    // Searching forwards is faster, and most parts have no such line.
    if (part.includes(pattern)) return from + part.lastIndexOf(pattern) + 1;
  }
  return undefined;
}

async function readPart(
  file: FileHandle,
  from: number,
  to: number,
  buffer = Buffer.allocUnsafe(to - from),
): Promise<Buffer> {
  const size = to - from;
  let length = 0;
  while (length < size) {
    const { bytesRead } = await file.read(buffer, length, size - length, from + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

async function readLine(file: FileHandle, at: number): Promise<unknown> {
  const part = await readPart(file, at, at + MAX_LINE_BYTES);
  const end = part.indexOf('\n');
  try {
    return JSON.parse(part.toString('utf8', 0, end === -1 ? part.length : end));
  } catch {
    return undefined;
  }
}
