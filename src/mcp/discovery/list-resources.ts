import type { Connection } from '../connection/connection.ts';
import type { CatalogueList, Discovered } from './discovered.ts';
import { type ListLimits, type ListSource, readList } from './read-list.ts';
import { type Resource, type ResourceTemplate, readResource, readResourceTemplate } from './resource.ts';

type Asked = Pick<Connection, 'name' | 'capabilities' | 'ask'>;
type ListOptions = { signal?: AbortSignal; limits?: Partial<ListLimits> };

const PAGE_MS = 60_000;

/** The resources of one server; one that says it has none is not asked. Rejects if it does not answer. */
export function listResources(connection: Asked, options: ListOptions = {}): Promise<Discovered<Resource>> {
  return listed(connection, 'resources', 'resources/list', readResource, options);
}

/** The templates of resources of one server, as `listResources`. */
export function listResourceTemplates(
  connection: Asked,
  options: ListOptions = {},
): Promise<Discovered<ResourceTemplate>> {
  return listed(connection, 'resourceTemplates', 'resources/templates/list', readResourceTemplate, options);
}

async function listed<T>(
  connection: Asked,
  list: CatalogueList,
  method: string,
  read: ListSource<T>['read'],
  { signal, limits }: ListOptions,
): Promise<Discovered<T>> {
  if (connection.capabilities.resources === undefined) return { items: [], diagnostics: [] };
  const options = { timeoutMs: PAGE_MS, ...(signal && { signal }) };
  const ask = (cursor: string | undefined) =>
    connection.ask(method, cursor === undefined ? {} : { cursor }, options);
  return readList({ server: connection.name, list, ask, read }, limits);
}
