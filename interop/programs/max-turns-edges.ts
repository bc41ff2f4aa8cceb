import type { MessagesRequest } from '../../test/support/model-api/messages-request.ts';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

/** Calls the tool twice. */
export const script = ({ messages }: MessagesRequest) =>
  messages.filter(({ role }) => role === 'assistant').length < 2
    ? toolUse('mcp__loop__again', {})
    : text('Done.');

/** Zero is no limit; any other number that is not a count is a limit too. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const again = sdk.tool('again', 'Again', {}, async () => ({ content: [{ type: 'text', text: 'ok' }] }));
  const seen: unknown[] = [];
  for (const maxTurns of [0, -1, 1.5]) {
    const loop = sdk.createSdkMcpServer({ name: 'loop', tools: [again] });
    const given = { ...options(sandbox), mcpServers: { loop }, allowedTools: ['mcp__loop'], maxTurns };
    seen.push(await transcribe(sdk.query({ prompt: 'Go on.', options: given })));
  }
  return seen;
}
