import type { Resource, ResourceTemplate } from '../../mcp/discovery/resource.ts';
import { sized } from '../host/figures.ts';
import { grouped } from '../host/grouped.ts';
import { firstLine } from '../tools/tool-table.ts';

type Of<T> = T & { readonly server: string };

/** Resources below the names of their servers: address, type, size, and what they are. */
export function resourceTable(all: readonly Of<Resource>[], columns: number | undefined): string[] {
  return grouped(all, 'resource', columns, (it) => [
    it.uri,
    it.mimeType ?? '',
    it.size === undefined ? '' : sized(it.size),
    describe(it, it.uri),
  ]);
}

/** The same of addresses with parts to fill in. */
export function templateTable(all: readonly Of<ResourceTemplate>[], columns: number | undefined): string[] {
  return grouped(all, 'template', columns, (it) => [
    it.uriTemplate,
    it.mimeType ?? '',
    describe(it, it.uriTemplate),
  ]);
}

/** Its name says something unless it is the address again. */
function describe({ name, title, description }: Resource | ResourceTemplate, address: string): string {
  const called = title ?? (name === address ? '' : name);
  return [called, firstLine(description)].filter((part) => part !== '').join(': ');
}
