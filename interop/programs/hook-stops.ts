import { z } from 'zod';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [toolUse('mcp__disk__erase', { path: '/' }), text('I erased it.')];

/** A hook before the call ends the turn. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  let hasRun = false;
  const erase = sdk.tool('erase', 'To erase', { path: z.string() }, async () => {
    hasRun = true;
    return { content: [{ type: 'text', text: 'done' }] };
  });
  const query = sdk.query({
    prompt: 'Erase the disk.',
    options: {
      ...options(sandbox),
      mcpServers: { disk: sdk.createSdkMcpServer({ name: 'disk', tools: [erase] }) },
      allowedTools: ['mcp__disk'],
      hooks: { PreToolUse: [{ hooks: [async () => ({ continue: false, stopReason: 'not now' })] }] },
    },
  });
  let reason: string | undefined;
  for await (const message of query) {
    if (message.type === 'result') reason = message.terminal_reason;
  }
  return { hasRun, reason, requests: sandbox.api.requests.length };
}
