import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('mcp__vault__secret', {}),
  toolUse('mcp__vault__plain', {}),
  text('I know nothing.'),
];

/** A hook after the call replaces what the model reads; another adds to it; both see the original. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const hooked: unknown[] = [];
  const make = (name: string) =>
    sdk.tool(name, `The ${name} one`, {}, async () => ({
      content: [{ type: 'text', text: `${name} value` }],
    }));
  const vault = sdk.createSdkMcpServer({ name: 'vault', tools: [make('secret'), make('plain')] });
  const query = sdk.query({
    prompt: 'Tell me.',
    options: {
      ...options(sandbox),
      mcpServers: { vault },
      allowedTools: ['mcp__vault'],
      hooks: {
        PostToolUse: [
          {
            matcher: '.*secret',
            hooks: [
              async (input, toolUseID) => {
                hooked.push({ input, toolUseID });
                return {
                  hookSpecificOutput: {
                    hookEventName: 'PostToolUse',
                    updatedMCPToolOutput: [{ type: 'text', text: 'redacted' }],
                  },
                };
              },
            ],
          },
          {
            matcher: '.*plain',
            hooks: [
              async (input, toolUseID) => {
                hooked.push({ input, toolUseID });
                return {
                  hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'It is old.' },
                };
              },
            ],
          },
        ],
      },
    },
  });
  const seen = await transcribe(query);
  return { hooked, seen, model: modelSide(sandbox), systemTexts: systemTexts(sandbox) };
}

function systemTexts(sandbox: Sandbox): string[] {
  const messages = sandbox.api.requests.at(-1)?.messages ?? [];
  return messages
    .filter((message) => message.role === 'system')
    .map((message) => JSON.stringify(message.content))
    .filter((content) => content.includes('It is old.'));
}
