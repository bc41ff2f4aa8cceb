import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { decodeBase64, extensionOf } from '../../agent/results/binary.ts';
import { jsonText, parseResult } from '../../agent/results/tool-result.ts';
import { createFile } from '../../base/files/replace-file.ts';
import { isRecord } from '../../base/json-value.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { sanitizeLine } from '../terminal/terminal-text.ts';
import { UsageError } from './failure.ts';
import { formatBytes, jsonDocument } from './format.ts';

/** One part of a result: text or JSON that is printed, or other content that is described in one line and can be saved to a file. */
type Part =
  | { readonly kind: 'text'; readonly text: string }
  /** JSON as received. */
  | { readonly kind: 'json'; readonly text: string }
  | {
      readonly kind: 'thing';
      readonly line: string;
      readonly file?: { readonly mimeType: string; readonly bytes: Buffer };
    };

/** Content blocks for display; a block of an unknown type is shown as JSON. */
export function partsOf(content: readonly unknown[]): Part[] {
  return content.flatMap((block): Part[] => {
    if (typeof block === 'string') return [{ kind: 'text', text: block }];
    if (!isRecord(block)) return unknownPart('content', block);
    return knownParts(block) ?? unknownPart(joinTexts(block.type) || 'content', block);
  });
}

function knownParts(block: Readonly<Record<string, unknown>>): Part[] | undefined {
  const { type, text, data, mimeType, resource, uri, name } = block;
  if (type === 'text' && typeof text === 'string') return [{ kind: 'text', text }];
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return [binary(type, data, mimeType)];
  }
  if (type === 'resource' && isRecord(resource)) return resourceParts(resource);
  if (type === 'resource_link' && typeof uri === 'string') {
    return [{ kind: 'thing', line: `link ${joinTexts(uri, name, mimeType)}` }];
  }
  return undefined;
}

/** The content of a resource: its text below a line that names it, a line that describes its bytes, or both. */
export function resourceParts(resource: Readonly<Record<string, unknown>>): Part[] {
  const { uri, mimeType, text, blob } = resource;
  const parts: Part[] = [];
  if (typeof text === 'string') {
    const size = formatBytes(Buffer.byteLength(text));
    parts.push({ kind: 'thing', line: `${joinTexts('resource', uri, mimeType ?? 'text')}, ${size}` });
    parts.push({ kind: 'text', text });
  }
  if (typeof blob === 'string') parts.push(binary(joinTexts('resource', uri), blob, mimeType));
  return parts.length > 0 ? parts : unknownPart(joinTexts('resource', uri), resource);
}

/** Formats parts, each on its own lines. */
export function partsText(parts: readonly Part[]): string {
  return parts.map((part) => endLine(part.kind === 'thing' ? `[${part.line}]` : part.text)).join('');
}

/** Adds a trailing newline to text that is not empty. */
export function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function unknownPart(what: string, value: unknown): Part[] {
  return [
    { kind: 'thing', line: `${what}, unknown type` },
    { kind: 'json', text: jsonText(value) },
  ];
}

function binary(what: string, data: string, type: unknown): Part {
  const decoded = decodeBase64(data);
  const mimeType = typeof type === 'string' ? type : (decoded?.mimeType ?? 'application/octet-stream');
  if (!decoded) return { kind: 'thing', line: `${what} ${joinTexts(mimeType)}, invalid base64` };
  const line = `${what} ${joinTexts(mimeType)}, ${formatBytes(decoded.bytes.length)}`;
  return { kind: 'thing', line, file: { mimeType, bytes: decoded.bytes } };
}

function joinTexts(...given: readonly unknown[]): string {
  return given.flatMap((it) => (typeof it === 'string' && it !== '' ? [sanitizeLine(it)] : [])).join(' ');
}

/** The parts of a tool result; structured content is shown only if there is no text. */
export function resultParts(result: unknown): Part[] {
  const { blocks, structure } = parseResult(result);
  const parts = partsOf(blocks);
  const hasText = parts.some((part) => part.kind === 'text' && part.text.trim() !== '');
  if (hasText || !structure) return parts;
  return [
    ...parts.filter((part) => part.kind !== 'text'),
    { kind: 'json', text: jsonDocument(structure.value) },
  ];
}

/** The parts with the paths of their files, these paths, and errors. */
type Saved = {
  readonly parts: readonly Part[];
  readonly files: readonly string[];
  readonly faults: readonly string[];
};

/** Creates a file; fails with `EEXIST` if it exists. */
type WriteNew = (path: string, bytes: Buffer) => Promise<void>;

/** Saves binary parts to new files of the directory. No file is overwritten; a part that cannot be saved is reported. */
export async function saveParts(
  parts: readonly Part[],
  directory: string,
  name: string,
  signal: AbortSignal,
  write: WriteNew = writeNew,
): Promise<Saved> {
  const stem = join(directory, safeName(name));
  // The next number to try, by extension.
  const counts = new Map<string, number>();
  const shown: Part[] = [];
  const files: string[] = [];
  const faults: string[] = [];
  for (const part of parts) {
    if (part.kind !== 'thing' || !part.file) {
      shown.push(part);
      continue;
    }
    const { bytes, mimeType } = part.file;
    try {
      const path = await saveNew(stem, extensionOf(mimeType), bytes, { counts, signal, write });
      files.push(path);
      shown.push({ ...part, line: `${part.line}: ${path}` });
    } catch (cause) {
      signal.throwIfAborted();
      faults.push(`cannot save ${part.line}: ${messageOf(cause)}`);
      shown.push(part);
    }
  }
  return { parts: shown, files, faults };
}

/** A file name from a server's name that cannot leave the directory. */
export function safeName(name: string): string {
  const safe = name.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 60);
  return /[a-zA-Z0-9]/.test(safe) ? safe : 'content';
}

type Saving = {
  readonly counts: Map<string, number>;
  readonly signal: AbortSignal;
  readonly write: WriteNew;
};

async function saveNew(
  stem: string,
  extension: string,
  bytes: Buffer,
  { counts, signal, write }: Saving,
): Promise<string> {
  for (;;) {
    signal.throwIfAborted();
    const count = counts.get(extension) ?? 1;
    const path = `${stem}-${count}${extension}`;
    counts.set(extension, count + 1);
    try {
      await write(path, bytes);
      return path;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    }
  }
}

async function writeNew(path: string, bytes: Buffer): Promise<void> {
  createFile(path, bytes, { mode: 0o666 });
}

/** Creates the directory of `--output`, before the call whose result it is for. */
export async function makeDirectory(given: string): Promise<void> {
  try {
    await make(resolve(given));
  } catch (cause) {
    if (cause instanceof NoDirectory) throw new UsageError(`--output ${given} is not a directory`);
    throw new UsageError(`cannot create --output ${given}: ${messageOf(cause)}`);
  }
}

class NoDirectory extends Error {}

/** Creates one level at a time: Node's recursive mkdir does not end in directories such as /proc. */
async function make(path: string): Promise<void> {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw cause.code === 'ENOTDIR' ? new NoDirectory() : cause;
  });
  if (found?.isDirectory()) return;
  if (found) throw new NoDirectory();
  const parent = dirname(path);
  if (parent !== path) await make(parent);
  await mkdir(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST') throw cause;
  });
}
