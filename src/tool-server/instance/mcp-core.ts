// The parts of the official MCP SDK that make the `McpServer` object of a tool server. `mcp-server-instance.ts` evaluates
// this module at the first use of such an object; the build includes it in the package.
export { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
export { toJsonSchemaCompat } from '@modelcontextprotocol/sdk/server/zod-json-schema-compat.js';
export {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
export { string } from 'zod/v4';
