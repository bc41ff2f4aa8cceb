import type { IncomingHttpHeaders } from 'node:http';
import { isRecord } from '../../base/json-value.ts';
import { INVALID_PARAMS } from '../../protocol/json-rpc.ts';
import { MCP_VERSIONS, STATELESS_VERSION } from '../../protocol/mcp.ts';
import type { CompiledTool } from '../tool.ts';
import { isRepeated } from './http-exchange.ts';

const PREFIX = 'io.modelcontextprotocol/';
const VERSION = `${PREFIX}protocolVersion`;
export const CLIENT_CAPABILITIES = `${PREFIX}clientCapabilities`;
export const CLIENT_INFO = `${PREFIX}clientInfo`;
export const LOG_LEVEL = `${PREFIX}logLevel`;
export const SERVER_INFO = `${PREFIX}serverInfo`;
export const SUBSCRIPTION_ID = `${PREFIX}subscriptionId`;

const HEADER_MISMATCH = -32020;
const UNSUPPORTED_VERSION = -32022;

/** The parameter that the header `Mcp-Name` repeats. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};
/**
 * Whether a message belongs to MCP 2026-07-28: its `_meta` names the revision, or the header names none of the earlier
 * ones. A message with a session belongs to it only if it names this revision.
 */
export function isStateless(message: unknown, headers: IncomingHttpHeaders): boolean {
  const params = isRecord(message) ? message.params : undefined;
  const meta = isRecord(params) ? params._meta : undefined;
  if (isRecord(meta) && meta[VERSION] !== undefined) return true;
  const version = headers['mcp-protocol-version'];
  if (headers['mcp-session-id'] !== undefined) return version === STATELESS_VERSION;
  return version !== undefined && !(MCP_VERSIONS as readonly unknown[]).includes(version);
}

type RpcFault = { code: number; message: string; data?: unknown };

/** Finds the tools of a tool server. */
type ToolFinder = { find(name: string): CompiledTool | undefined };

/** The fault of a request's `_meta` members, or of a header that does not repeat the body. */
export function requestFault(
  method: string,
  params: Record<string, unknown>,
  headers: IncomingHttpHeaders,
  server: ToolFinder,
): RpcFault | undefined {
  return metaFault(params, headers) ?? headerFault(method, params, headers, server);
}

/** The fault of the `_meta` members that every request carries. */
function metaFault(params: Record<string, unknown>, headers: IncomingHttpHeaders): RpcFault | undefined {
  const meta = isRecord(params._meta) ? params._meta : {};
  const version = meta[VERSION];
  if (typeof version !== 'string' || !isRecord(meta[CLIENT_CAPABILITIES])) {
    return {
      code: INVALID_PARAMS,
      message: `_meta requires the string ${VERSION} and the object ${CLIENT_CAPABILITIES}`,
    };
  }
  if (headers['mcp-protocol-version'] !== version) {
    return { code: HEADER_MISMATCH, message: `MCP-Protocol-Version does not match ${VERSION} of _meta` };
  }
  if (version === STATELESS_VERSION) return undefined;
  return {
    code: UNSUPPORTED_VERSION,
    message: 'Unsupported protocol version',
    data: { supported: [STATELESS_VERSION], requested: version },
  };
}

/** The first header that does not repeat the member of the body that it must repeat. */
function headerFault(
  method: string,
  params: Record<string, unknown>,
  headers: IncomingHttpHeaders,
  server: ToolFinder,
): RpcFault | undefined {
  const differs = (header: string): RpcFault => ({
    code: HEADER_MISMATCH,
    message: `the header ${header} does not match the body of the request`,
  });
  if (headers['mcp-method'] !== method) return differs('Mcp-Method');
  const named = NAMED[method];
  if (named === undefined) return undefined;
  if (!isRepeated(headers['mcp-name'], params[named])) return differs('Mcp-Name');
  if (method !== 'tools/call') return undefined;
  const tool = typeof params.name === 'string' ? server.find(params.name) : undefined;
  const args = isRecord(params.arguments) ? params.arguments : {};
  for (const [property, header] of tool ? headerParams(tool) : []) {
    if (!isRepeated(headers[`mcp-param-${header.toLowerCase()}`], args[property])) {
      return differs(`Mcp-Param-${header}`);
    }
  }
  return undefined;
}

const headerParamsOf = new WeakMap<CompiledTool, readonly (readonly [string, string])[]>();

/** The properties of the arguments that the schema maps to headers by `x-mcp-header`. */
function headerParams(tool: CompiledTool): readonly (readonly [string, string])[] {
  const known = headerParamsOf.get(tool);
  if (known) return known;
  const { properties } = tool.input.json;
  const found = Object.entries(isRecord(properties) ? properties : {}).flatMap(([property, schema]) => {
    const header = isRecord(schema) ? schema['x-mcp-header'] : undefined;
    return typeof header === 'string' ? [[property, header] as const] : [];
  });
  headerParamsOf.set(tool, found);
  return found;
}
