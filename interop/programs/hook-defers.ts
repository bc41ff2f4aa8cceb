import { z } from 'zod';
import { together, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  together(toolUse('mcp__disk__erase', { path: '/' }), toolUse('mcp__disk__list', { path: '/' })),
];

/** A hook defers a call that a rule allows: the other call of the message runs, and the turn ends. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const calls: string[] = [];
  const make = (name: string) =>
    sdk.tool(name, `To ${name}`, { path: z.string() }, async ({ path }) => {
      calls.push(`${name} ${path}`);
      return { content: [{ type: 'text', text: `${name} done` }] };
    });
  let deferred: unknown;
  const query = sdk.query({
    prompt: 'Erase the disk.',
    options: {
      ...options(sandbox),
      mcpServers: { disk: sdk.createSdkMcpServer({ name: 'disk', tools: [make('erase'), make('list')] }) },
      allowedTools: ['mcp__disk'],
      hooks: {
        PreToolUse: [
          {
            matcher: 'mcp__disk__erase',
            hooks: [
              async () => ({
                hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'defer' },
              }),
            ],
          },
        ],
      },
    },
  });
  const seen = await transcribe(query, (message) => {
    if (message.type === 'result' && message.subtype === 'success') deferred = message.deferred_tool_use;
  });
  return { calls, deferred, seen, model: modelSide(sandbox) };
}
