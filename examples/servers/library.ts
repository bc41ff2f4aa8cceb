// A server of the official MCP SDK with a resource and a prompt, for `toolplane serve`.
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const server = new McpServer({ name: 'library', version: '1.0.0' });
server.registerResource(
  'Opening hours',
  'library://hours',
  { mimeType: 'text/plain', description: 'When the library is open' },
  async ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'Every day from 9 to 17.\n' }],
  }),
);
server.registerPrompt(
  'recommend',
  {
    description: 'Asks for a book',
    argsSchema: z.object({ about: z.string(), mood: z.string().optional() }),
  },
  ({ about, mood = 'any' }) => ({
    messages: [
      { role: 'user', content: { type: 'text', text: `Recommend a book about ${about} for ${mood} mood.` } },
    ],
  }),
);

export { server };
