import { z } from 'zod';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('mcp__disk__erase', { path: '/' }),
  toolUse('mcp__disk__list', { path: '/' }),
  text('I could only list it.'),
];

/** A hook before the call refuses it although a rule allows it; its matcher leaves other tools alone. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const calls: string[] = [];
  const hooked: unknown[] = [];
  const make = (name: string) =>
    sdk.tool(name, `To ${name}`, { path: z.string() }, async ({ path }) => {
      calls.push(`${name} ${path}`);
      return { content: [{ type: 'text', text: `${name} done` }] };
    });
  const disk = sdk.createSdkMcpServer({ name: 'disk', tools: [make('erase'), make('list')] });
  const query = sdk.query({
    prompt: 'Erase the disk.',
    options: {
      ...options(sandbox),
      mcpServers: { disk },
      allowedTools: ['mcp__disk'],
      hooks: {
        PreToolUse: [
          {
            matcher: 'mcp__disk__erase',
            hooks: [
              async (input, toolUseID) => {
                hooked.push({ input, toolUseID });
                return {
                  hookSpecificOutput: {
                    hookEventName: 'PreToolUse',
                    permissionDecision: 'deny',
                    permissionDecisionReason: 'erasing is forbidden',
                  },
                };
              },
            ],
          },
        ],
      },
    },
  });
  const seen = await transcribe(query);
  return { calls, hooked, seen, model: modelSide(sandbox) };
}
