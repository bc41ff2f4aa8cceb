import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { converse } from '../conversation.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [text('Nothing to call yet.'), toolUse('mcp__late__hello', {}), text('Called it.')];

/** A server added between two turns is called in the second; the one not named again is gone. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const calls: string[] = [];
  const make = (server: string) =>
    sdk.createSdkMcpServer({
      name: server,
      tools: [
        sdk.tool('hello', 'Greets', {}, async () => {
          calls.push(server);
          return { content: [{ type: 'text', text: `hello from ${server}` }] };
        }),
      ],
    });
  const conversation = converse();
  const query = sdk.query({
    prompt: conversation,
    options: {
      ...options(sandbox),
      mcpServers: { early: make('early') },
      allowedTools: ['mcp__early', 'mcp__late'],
    },
  });
  const changes: unknown[] = [];
  const statuses: unknown[] = [];
  let turns = 0;
  conversation.say('Hello?');
  const seen = await transcribe(query, async (message) => {
    if (message.type !== 'result') return;
    turns += 1;
    statuses.push(await query.mcpServerStatus());
    if (turns === 2) return conversation.end();
    changes.push(await query.setMcpServers({ late: make('late') }));
    conversation.say('And now?');
  });
  return { calls, changes, statuses, seen, model: modelSide(sandbox) };
}
