import type { ListedTool } from '../../protocol/mcp.ts';
import type { Connection } from '../connection/connection.ts';
import { readHeaderParams } from '../connection/param-headers.ts';
import type { SizeBudget } from './parse-entry.ts';
import { type Prompt, parsePrompt } from './prompt.ts';
import {
  type Discovered,
  type ListLimits,
  type ListName,
  type ListSource,
  type ReadEntry,
  readList,
} from './read-list.ts';
import { parseResource, parseResourceTemplate, type Resource, type ResourceTemplate } from './resource.ts';
import { parseTool } from './tool.ts';

export type { Prompt } from './prompt.ts';

/** Asks for all pages and reads every tool on its own; rejects only if the server does not answer. */
export async function listTools(
  connection: Pick<Connection, 'name' | 'capabilities' | 'listTools' | 'mirrorsParams'>,
  { signal, limits }: { signal?: AbortSignal; limits?: Partial<ListLimits> } = {},
): Promise<Discovered<ListedTool>> {
  if (connection.capabilities.tools === undefined) return { items: [], diagnostics: [] };
  return readList(
    {
      server: connection.name,
      list: 'tools',
      requestPage: (cursor) => connection.listTools(cursor, signal),
      read: connection.mirrorsParams ? readMarkedTool : parseTool,
    },
    limits,
  );
}

/** Where arguments travel as headers too, a tool that marks them wrongly must not be offered. */
function readMarkedTool(value: unknown, room: SizeBudget): ReadEntry<ListedTool> {
  const read = parseTool(value, room);
  if ('fault' in read) return read;
  const marks = readHeaderParams(read.item.inputSchema);
  return 'fault' in marks ? { name: read.name, fault: marks.fault } : read;
}

/** Prompts are listed as a server comes, and it is not to be held up by them. */
const PROMPT_PAGE_TIMEOUT_MS = 10_000;

/** The prompts of one server; one that says it has none is not asked. Rejects if it does not answer. */
export async function listPrompts(
  connection: Pick<Connection, 'name' | 'capabilities' | 'request'>,
  { signal, limits }: { signal?: AbortSignal; limits?: Partial<ListLimits> } = {},
): Promise<Discovered<Prompt>> {
  if (connection.capabilities.prompts === undefined) return { items: [], diagnostics: [] };
  const options = { timeoutMs: PROMPT_PAGE_TIMEOUT_MS, ...(signal && { signal }) };
  return readList(
    {
      server: connection.name,
      list: 'prompts',
      requestPage: (cursor) =>
        connection.request('prompts/list', cursor === undefined ? {} : { cursor }, options),
      read: parsePrompt,
    },
    limits,
  );
}

type Requester = Pick<Connection, 'name' | 'capabilities' | 'request'>;
type ListOptions = { signal?: AbortSignal; limits?: Partial<ListLimits> };

const RESOURCE_PAGE_TIMEOUT_MS = 60_000;

/** The resources of one server; one that says it has none is not asked. Rejects if it does not answer. */
export function listResources(
  connection: Requester,
  options: ListOptions = {},
): Promise<Discovered<Resource>> {
  return listed(connection, 'resources', 'resources/list', parseResource, options);
}

/** The templates of resources of one server, as `listResources`. */
export function listResourceTemplates(
  connection: Requester,
  options: ListOptions = {},
): Promise<Discovered<ResourceTemplate>> {
  return listed(connection, 'resourceTemplates', 'resources/templates/list', parseResourceTemplate, options);
}

async function listed<T>(
  connection: Requester,
  list: ListName,
  method: string,
  read: ListSource<T>['read'],
  { signal, limits }: ListOptions,
): Promise<Discovered<T>> {
  if (connection.capabilities.resources === undefined) return { items: [], diagnostics: [] };
  const options = { timeoutMs: RESOURCE_PAGE_TIMEOUT_MS, ...(signal && { signal }) };
  const ask = (cursor: string | undefined) =>
    connection.request(method, cursor === undefined ? {} : { cursor }, options);
  return readList({ server: connection.name, list, requestPage: ask, read }, limits);
}
