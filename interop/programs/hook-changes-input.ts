import { z } from 'zod';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [toolUse('mcp__shell__echo', { line: 'rm -rf /' }), text('Echoed.')];

/** A PreToolUse hook allows the call with another input, without a permission request. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const calls: unknown[] = [];
  const asked: string[] = [];
  const echo = sdk.tool('echo', 'Echo', { line: z.string() }, async (args) => {
    calls.push(args);
    return { content: [{ type: 'text', text: args.line }] };
  });
  const shell = sdk.createSdkMcpServer({ name: 'shell', tools: [echo] });
  const query = sdk.query({
    prompt: 'Echo that.',
    options: {
      ...options(sandbox),
      mcpServers: { shell },
      canUseTool: async (name, input) => {
        asked.push(name);
        return { behavior: 'allow', updatedInput: input };
      },
      hooks: {
        PreToolUse: [
          {
            hooks: [
              async () => ({
                hookSpecificOutput: {
                  hookEventName: 'PreToolUse',
                  permissionDecision: 'allow',
                  updatedInput: { line: 'harmless' },
                },
              }),
            ],
          },
        ],
      },
    },
  });
  const seen = await transcribe(query);
  return { calls, asked, seen, model: modelSide(sandbox) };
}
