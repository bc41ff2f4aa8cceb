import { text } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = () => text('hello');

/** The prompt, tools and model of an agent apply to the conversation itself, unless the program sets its own. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const tool = (name: string) => sdk.tool(name, name, {}, async () => ({ content: [] }));
  const agents = {
    reviewer: {
      description: 'Reviews',
      prompt: 'You review code.',
      tools: ['mcp__desk__look', 'mcp__desk__note'],
      disallowedTools: ['mcp__desk__note'],
      model: 'haiku',
    },
  };
  const { model: _, ...common } = options(sandbox);
  const cases = [
    { agent: 'reviewer' },
    {
      agent: 'reviewer',
      model: 'claude-sonnet-5',
      systemPrompt: { type: 'preset' as const, preset: 'claude_code' as const, append: 'More.' },
    },
    { agent: 'unknown', model: 'claude-sonnet-5' },
  ];
  const seen: unknown[] = [];
  for (const given of cases) {
    const desk = sdk.createSdkMcpServer({ name: 'desk', tools: [tool('look'), tool('note'), tool('other')] });
    const before = sandbox.api.requests.length;
    const query = sdk.query({
      prompt: 'Go.',
      options: { ...common, agents, mcpServers: { desk }, ...given },
    });
    for await (const message of query) {
      if (message.type === 'system' && message.subtype === 'init') seen.push([message.model, message.tools]);
      if (message.type === 'result') seen.push([message.subtype, Object.keys(message.modelUsage)]);
    }
    const request = sandbox.api.requests[before];
    seen.push({
      model: request?.model,
      tools: request?.tools?.map(({ name }) => name),
      prompt: JSON.stringify(request?.system ?? '').match(/You review code\.|More\./g),
    });
  }
  return seen;
}
