import { defineBuiltIn } from './define.ts';

export const READ_MCP_RESOURCE = defineBuiltIn({
  name: 'ReadMcpResourceTool',
  description:
    'Reads a resource of a connected MCP server by its URI, or by a URI made of one of its templates. Text comes as it is; other data goes to a file that is named.',
  annotations: { title: 'Read a resource', readOnlyHint: true, openWorldHint: true },
  required: {
    server: {
      type: 'string',
      minLength: 1,
      description: "The server's name, as ListMcpResourcesTool gives it.",
    },
    uri: { type: 'string', minLength: 1, description: 'The URI of the resource.' },
  },
  optional: {},
  uriMember: 'uri',
  run: ({ server, uri }, world, signal) => world.resources.read(server, uri, signal),
});
