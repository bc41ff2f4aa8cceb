import { isRecord } from '../../base/is-record.ts';

/** What is wrong with one piece of a resource, if that would break whoever reads it; unknown members are welcome. */
export function faultOfContents(value: unknown): string | undefined {
  if (!isRecord(value)) return 'it is no object';
  if (typeof value.uri !== 'string') return '"uri" must be a string';
  if (value.mimeType !== undefined && typeof value.mimeType !== 'string')
    return '"mimeType" must be a string';
  if (value.text !== undefined && typeof value.text !== 'string') return '"text" must be a string';
  if (value.blob !== undefined && typeof value.blob !== 'string') return '"blob" must be base64 in a string';
  return value.text === undefined && value.blob === undefined
    ? 'it has neither "text" nor "blob"'
    : undefined;
}

/** The same for one block of a message; a kind nobody knows yet passes as it is. */
export function faultOfBlock(value: unknown): string | undefined {
  if (!isRecord(value) || typeof value.type !== 'string') return 'it must be an object with a "type"';
  if (value.type === 'resource') {
    const fault = faultOfContents(value.resource);
    return fault === undefined ? undefined : `of its "resource", ${fault}`;
  }
  const members = Object.hasOwn(MEMBERS, value.type) ? (MEMBERS[value.type] ?? []) : [];
  const odd = members.find((member) => typeof value[member] !== 'string');
  return odd === undefined ? undefined : `"${odd}" must be a string`;
}

const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
};
