import { isRecord } from '../../base/json-value.ts';
import { jsonText } from './json-text.ts';
import { keepBinary } from './keep-binary.ts';
import type { Piece } from './piece.ts';
import type { ResultSource } from './result-source.ts';

/**
 * Turns one content block of a tool result, whatever it is, into pieces; none is dropped silently. Whom a block says it
 * is for (`audience`) is a hint for showing it to people: a model is given all of it.
 */
export async function blockPieces(block: unknown, source: ResultSource): Promise<Piece[]> {
  const { server } = source;
  if (typeof block === 'string') return [{ kind: 'text', text: block }];
  if (!isRecord(block) || typeof block.type !== 'string') return unreadable('content', block, source);
  switch (block.type) {
    case 'text':
      return typeof block.text === 'string'
        ? [{ kind: 'text', text: block.text }]
        : unreadable('text', block, source);
    case 'image':
    case 'audio': {
      const { data, mimeType } = block;
      if (typeof data !== 'string') return unreadable(block.type, block, source);
      const label = block.type === 'image' ? `[Image from ${server}]` : `[Audio from ${server}]`;
      return [await keepBinary(label, data, mimeType, source)];
    }
    case 'resource_link':
      return typeof block.uri === 'string'
        ? [{ kind: 'text', text: linkText({ ...block, uri: block.uri }) }]
        : unreadable('resource link', block, source);
    case 'resource':
      return isRecord(block.resource)
        ? resourcePieces(block.resource, source)
        : unreadable('resource', block, source);
    default:
      return [
        {
          kind: 'text',
          label: `[Content of unknown type ${brief(jsonText(block.type))} from ${server}]`,
          text: jsonText(block),
        },
      ];
  }
}

/** The contents of a resource, embedded in a result or read by itself: text, data, or both. */
export async function resourcePieces(resource: unknown, source: ResultSource): Promise<Piece[]> {
  if (!isRecord(resource)) return unreadable('resource', resource, source);
  const { uri, text, blob, mimeType } = resource;
  if (typeof text !== 'string' && typeof blob !== 'string') return unreadable('resource', resource, source);
  const label = `[Resource from ${source.server}${typeof uri === 'string' ? ` at ${brief(uri)}` : ''}]`;
  const pieces: Piece[] = [];
  if (typeof text === 'string') pieces.push({ kind: 'text', label, text: text === '' ? '(empty)' : text });
  if (typeof blob === 'string') {
    const kept = await keepBinary(label, blob, mimeType, source);
    pieces.push(kept.kind === 'image' ? { ...kept, label } : kept);
  }
  return pieces;
}

function unreadable(what: string, value: unknown, { server }: ResultSource): Piece[] {
  return [{ kind: 'text', label: `[Unreadable ${what} from ${server}]`, text: jsonText(value) }];
}

function linkText({ name, uri, description }: Record<string, unknown> & { uri: string }): string {
  const title = typeof name === 'string' ? name : '';
  const about = typeof description === 'string' && description !== '' ? ` (${description})` : '';
  return `[Resource link: ${title}] ${uri}${about}`;
}

/** Labels stay in sight when what they are about goes to a file, so they are short. */
function brief(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
