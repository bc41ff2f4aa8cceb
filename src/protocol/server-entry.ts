import { isRecord } from '../base/is-record.ts';
import { SdkError } from './sdk-error.ts';

/** A permission policy for one tool of a server, enforced by the agent. */
export type ToolPolicy = {
  name: string;
  permission_policy?: 'always_allow' | 'always_ask' | 'always_deny';
  org_max_permission?: 'allow' | 'ask' | 'blocked';
};

type Common = {
  /** Hard limit of one tool call in milliseconds, enforced by the agent; below 1000 it is ignored there. */
  timeout?: number;
  alwaysLoad?: boolean;
  /** Dialled only once the agent asks for it by `connect_mcp`; understood by Toolplane's own host. */
  start?: 'on-demand';
};

export type StdioServerEntry = Common & {
  type?: 'stdio';
  command: string;
  args?: string[];
  env?: Record<string, string>;
};
export type SseServerEntry = Common & {
  type: 'sse';
  url: string;
  headers?: Record<string, string>;
  tools?: ToolPolicy[];
};
export type HttpServerEntry = Common & {
  type: 'http';
  url: string;
  headers?: Record<string, string>;
  tools?: ToolPolicy[];
};
export type WsServerEntry = Common & { type: 'ws'; url: string; headers?: Record<string, string> };

/** A server the agent dials by itself. */
export type ExternalServerEntry = StdioServerEntry | SseServerEntry | HttpServerEntry | WsServerEntry;

/** Checks one external entry and returns it as it was given: the agent reads the rest (R31). */
export function checkExternalEntry(key: string, entry: unknown): ExternalServerEntry {
  const refuse = (fault: string): never => {
    throw new SdkError('bad-server', `mcpServers["${key}"]: ${fault}`, { server: key });
  };
  if (!isRecord(entry))
    return refuse('it must be an object: an sdk server, or a stdio, http, sse or ws entry');
  const type = entry.type ?? 'stdio';
  if (type === 'stdio') {
    if (typeof entry.command !== 'string' || entry.command === '') {
      return refuse('a stdio server needs "command", a non-empty string');
    }
    if (entry.args !== undefined && !isStringList(entry.args))
      return refuse('"args" must be a list of strings');
    if (entry.env !== undefined && !isStringMap(entry.env)) return refuse('"env" must map names to strings');
  } else if (type === 'sse' || type === 'http' || type === 'ws') {
    const schemes = type === 'ws' ? ['ws:', 'wss:'] : ['http:', 'https:'];
    if (typeof entry.url !== 'string' || !URL.canParse(entry.url))
      return refuse(`a ${type} server needs "url", a full URL`);
    if (!schemes.includes(new URL(entry.url).protocol)) {
      return refuse(`the url of a ${type} server starts with ${schemes.join('// or ')}//`);
    }
    if (entry.headers !== undefined && !isStringMap(entry.headers))
      return refuse('"headers" must map names to strings');
  } else {
    return refuse(`unknown type ${JSON.stringify(type)}; known are sdk, stdio, http, sse, ws`);
  }
  if (entry.timeout !== undefined && !(typeof entry.timeout === 'number' && entry.timeout > 0)) {
    return refuse('"timeout" is a number of milliseconds above 0');
  }
  return entry as ExternalServerEntry;
}

function isStringList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isStringMap(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((item) => typeof item === 'string');
}
