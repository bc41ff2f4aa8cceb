import { isRecord } from '../../base/is-record.ts';
import { isViewable, type ModelImage, type ModelText } from './model-content.ts';

/** Where a result comes from, and where data goes that a model cannot read. */
export type ResultSource = {
  /** The tool's name as the model knows it. */
  name: string;
  /** The server's key. */
  server: string;
  /** Stores base64 data and resolves with its path. */
  save(data: string, mimeType: string): Promise<string>;
};

/** Turns one content block of a tool result, whatever it is, into blocks for the model; none is dropped silently. */
export async function blockToModel(
  block: unknown,
  source: ResultSource,
): Promise<(ModelText | ModelImage)[]> {
  if (!isRecord(block)) return text(`[Unreadable content from ${source.server}]`);
  switch (block.type) {
    case 'text':
      return text(string(block.text));
    case 'image':
      return binary(`[Image from ${source.server}]`, block.data, block.mimeType, source);
    case 'audio':
      return binary(`[Audio from ${source.server}]`, block.data, block.mimeType, source);
    case 'resource_link':
      return text(linkText(block));
    case 'resource':
      return resource(isRecord(block.resource) ? block.resource : {}, source);
    default:
      return text(`[Content of unknown type ${JSON.stringify(block.type)} from ${source.server}]`);
  }
}

async function resource(it: Record<string, unknown>, source: ResultSource) {
  const label = `[Resource from ${source.server} at ${string(it.uri)}]`;
  if (typeof it.blob !== 'string') return text(`${label} ${string(it.text)}`);
  const blocks = await binary(label, it.blob, it.mimeType, source);
  return blocks[0]?.type === 'image' ? [...text(`${label} `), ...blocks] : blocks;
}

async function binary(label: string, given: unknown, type: unknown, source: ResultSource) {
  const data = string(given);
  const mimeType = string(type) || 'application/octet-stream';
  const saved = await source.save(data, mimeType).then(
    (path) => ({ path }),
    (failure: unknown) => ({ fault: failure instanceof Error ? failure.message : String(failure) }),
  );
  if (isViewable(mimeType)) {
    const image: ModelImage = { type: 'image', source: { type: 'base64', media_type: mimeType, data } };
    return 'path' in saved ? [image, ...text(`[Image: source: ${saved.path}]`)] : [image];
  }
  const what = `${label} Binary content (${mimeType}, ${byteLength(data)} bytes)`;
  return text(
    'path' in saved ? `${what} saved to ${saved.path}` : `${what} could not be saved: ${saved.fault}`,
  );
}

function linkText({ name, uri, description }: Record<string, unknown>): string {
  const about = string(description);
  return `[Resource link: ${string(name)}] ${string(uri)}${about === '' ? '' : ` (${about})`}`;
}

function byteLength(base64: string): number {
  const digits = base64.replace(/[\s=]+/g, '').length;
  return Math.floor((digits * 3) / 4);
}

function text(it: string): ModelText[] {
  return [{ type: 'text', text: it }];
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
