import type { ForeignServer } from '../foreign-server.ts';

// Programs that do not use the official MCP SDK need not install its package: the type is `any` there.
// biome-ignore lint/suspicious/noTsIgnore: the next line has an error only in such programs.
/** @ts-ignore */
type OfficialMcpServer = import('@modelcontextprotocol/sdk/server/mcp.js').McpServer;

/** The `McpServer` of the official MCP SDK; in a program without the types of that SDK, its main methods. */
export type InstanceMcpServer = 0 extends 1 & OfficialMcpServer ? McpServerMethods : OfficialMcpServer;

type McpServerMethods = ForeignServer & {
  readonly server: unknown;
  isConnected(): boolean;
  registerTool(name: string, config: object, handler: (...args: never[]) => unknown): unknown;
  sendToolListChanged(): void;
};
