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

/** Lists the tools of a server, all pages. Rejects only if the server does not answer. */
export async function listTools(
  connection: Pick<Connection, 'name' | 'capabilities' | 'listTools' | 'mirrorsParams'>,
  { signal, limits }: ListOptions = {},
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

/** Where arguments are also sent as headers, a tool with invalid `x-mcp-header` marks must not be offered. */
function readMarkedTool(value: unknown, room: SizeBudget): ReadEntry<ListedTool> {
  const read = parseTool(value, room);
  if ('fault' in read) return read;
  const marks = readHeaderParams(read.item.inputSchema);
  return 'fault' in marks ? { name: read.name, fault: marks.fault } : read;
}

type Requester = Pick<Connection, 'name' | 'capabilities' | 'request'>;
type ListOptions = { signal?: AbortSignal; limits?: Partial<ListLimits> };

/** Prompts are listed during the connect, which a slow list must not delay for long. */
const PROMPT_PAGE_TIMEOUT_MS = 10_000;
const RESOURCE_PAGE_TIMEOUT_MS = 60_000;

/** Lists the prompts of a server. Rejects if the server does not answer. */
export function listPrompts(connection: Requester, options: ListOptions = {}): Promise<Discovered<Prompt>> {
  return listed(connection, 'prompts', 'prompts/list', PROMPT_PAGE_TIMEOUT_MS, parsePrompt, options);
}

/** Lists the resources of a server. Rejects if the server does not answer. */
export function listResources(
  connection: Requester,
  options: ListOptions = {},
): Promise<Discovered<Resource>> {
  return listed(connection, 'resources', 'resources/list', RESOURCE_PAGE_TIMEOUT_MS, parseResource, options);
}

/** Lists the resource templates of a server. Rejects if the server does not answer. */
export function listResourceTemplates(
  connection: Requester,
  options: ListOptions = {},
): Promise<Discovered<ResourceTemplate>> {
  const method = 'resources/templates/list';
  return listed(
    connection,
    'resourceTemplates',
    method,
    RESOURCE_PAGE_TIMEOUT_MS,
    parseResourceTemplate,
    options,
  );
}

/** A server without the capability is not asked. */
async function listed<T>(
  connection: Requester,
  list: Exclude<ListName, 'tools'>,
  method: string,
  timeoutMs: number,
  read: ListSource<T>['read'],
  { signal, limits }: ListOptions,
): Promise<Discovered<T>> {
  const capability = list === 'prompts' ? 'prompts' : 'resources';
  if (connection.capabilities[capability] === undefined) return { items: [], diagnostics: [] };
  const options = { timeoutMs, ...(signal && { signal }) };
  const requestPage = (cursor: string | undefined) =>
    connection.request(method, cursor === undefined ? {} : { cursor }, options);
  return readList({ server: connection.name, list, requestPage, read }, limits);
}
