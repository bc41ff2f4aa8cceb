import { METHOD_NOT_FOUND } from '../../protocol/json-rpc.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import type { Connection } from '../connection/connection.ts';
import { readHeaderParams } from '../connection/param-headers.ts';
import { ServerFault } from '../errors/host-error.ts';
import {
  type Prompt,
  parsePrompt,
  parseResource,
  parseResourceTemplate,
  parseTool,
  type Resource,
  type ResourceTemplate,
} from './list-entries.ts';
import {
  type Discovered,
  type ListLimits,
  type ListName,
  type ListSource,
  type ReadEntry,
  readList,
  type SizeBudget,
} from './read-list.ts';
import { hasSkills, parseServerSkill, type ServerSkill } from './skill-entries.ts';

export type { Prompt } from './list-entries.ts';

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
      requestPage: (cursor) =>
        connection.listTools(cursor, signal).catch((failure) => {
          if (cursor === undefined && isUnknownMethod(failure)) return { tools: [] };
          throw failure;
        }),
      read: connection.mirrorsParams ? readMarkedTool : parseTool,
    },
    limits,
  );
}

/** Whether `tools/list` is unknown: a server of the official MCP SDK that declares tools but has none lacks it. */
function isUnknownMethod(failure: unknown): boolean {
  return failure instanceof ServerFault && failure.code === METHOD_NOT_FOUND;
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

/** Time limit of one page of prompts. It is short because prompts are listed while connecting. */
const PROMPT_PAGE_TIMEOUT_MS = 10_000;
const RESOURCE_PAGE_TIMEOUT_MS = 60_000;
const SKILL_PAGE_TIMEOUT_MS = 10_000;
const MAX_SKILLS = 500;

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

/** Lists the skills of a server. Rejects if the server does not answer. */
export function listSkills(
  connection: Requester,
  options: ListOptions = {},
): Promise<Discovered<ServerSkill>> {
  return listed(connection, 'skills', 'skills/list', SKILL_PAGE_TIMEOUT_MS, parseServerSkill, {
    limits: { entries: MAX_SKILLS },
    ...options,
  });
}

/** Lists entries of one kind; a server without the capability is not asked and has none. */
async function listed<T>(
  connection: Requester,
  list: Exclude<ListName, 'tools'>,
  method: string,
  timeoutMs: number,
  read: ListSource<T>['read'],
  { signal, limits }: ListOptions,
): Promise<Discovered<T>> {
  const capability = list === 'prompts' ? 'prompts' : 'resources';
  const isOffered =
    list === 'skills' ? hasSkills(connection) : connection.capabilities[capability] !== undefined;
  if (!isOffered) return { items: [], diagnostics: [] };
  const options = { timeoutMs, ...(signal && { signal }) };
  const requestPage = (cursor: string | undefined) =>
    connection.request(method, cursor === undefined ? {} : { cursor }, options);
  return readList({ server: connection.name, list, requestPage, read }, limits);
}
