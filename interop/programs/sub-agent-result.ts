import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('Task', { description: 'find it', prompt: 'Where is it?', subagent_type: 'finder' }),
  toolUse('mcp__map__find', {}),
  text('It is here.'),
  text('Found.'),
];

/** The result of a sub-agent says what it did: its tools, its model and its last message. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const seen: unknown[] = [];
  const find = sdk.tool('find', 'Finds it', {}, async () => ({ content: [{ type: 'text', text: 'here' }] }));
  const query = sdk.query({
    prompt: 'Find it.',
    options: {
      ...options(sandbox),
      env: { ...sandbox.env, CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' },
      tools: ['Task'],
      agents: { finder: { description: 'Finds things', prompt: 'You find things.' } },
      mcpServers: { map: sdk.createSdkMcpServer({ name: 'map', tools: [find] }) },
      canUseTool: async (_name, input) => ({ behavior: 'allow', updatedInput: input }),
      hooks: {
        PostToolUse: [
          {
            matcher: 'Task|Agent',
            hooks: [
              async (input) => {
                seen.push(summary((input as { tool_response?: unknown }).tool_response));
                return {};
              },
            ],
          },
        ],
      },
    },
  });
  for await (const message of query) {
    if (message.type !== 'user' || message.parent_tool_use_id !== null) continue;
    seen.push(summary(message.tool_use_result));
  }
  return seen;
}

/** The members of the published type; times, tokens and ids differ between runs. */
function summary(result: unknown): unknown {
  const {
    status,
    agentType,
    prompt,
    content,
    resolvedModel,
    totalToolUseCount,
    toolsUsed,
    toolStats,
    ...rest
  } = result as Record<string, unknown> & { content: { text: string }[]; usage: object };
  return {
    ...{ status, agentType, prompt, resolvedModel, totalToolUseCount, toolsUsed, toolStats },
    text: content.at(-1)?.text,
    measured: ['agentId', 'totalDurationMs', 'totalTokens', 'usage'].map((name) => typeof rest[name]),
    usage: Object.keys(rest.usage)
      .filter((name) => /tokens$|^service_tier$|^cache_creation$/.test(name))
      .sort(),
  };
}
