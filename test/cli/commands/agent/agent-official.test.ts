import { expect, test } from 'vitest';
import * as z from 'zod';
import { official } from '../../../../interop/official.ts';
import { text, toolUse } from '../../../support/model-api/model-reply.ts';
import { toolResults } from '../../../support/model-api/model-view.ts';
import { AGENT } from '../../../support/setup/built-package.ts';
import { openAgentSandbox } from '../../support/agent-sandbox.ts';

// The official SDK starts our executable as it would its own agent.

type OfficialOptions = NonNullable<Parameters<typeof official.query>[0]['options']>;

async function run(prompt: string, options: OfficialOptions) {
  const messages: { type: string; subtype?: string; result?: string }[] = [];
  for await (const message of official.query({
    prompt,
    options: { ...options, pathToClaudeCodeExecutable: AGENT },
  })) {
    messages.push(message as never);
  }
  return messages;
}

const calc = () =>
  official.createSdkMcpServer({
    name: 'calc',
    tools: [
      official.tool('add', 'Add', { a: z.number(), b: z.number() }, async ({ a, b }) => ({
        content: [{ type: 'text', text: String(a + b) }],
      })),
    ],
  });

test('the model calls a tool of the program through the Messages API', async () => {
  await using sandbox = await openAgentSandbox([
    toolUse('mcp__calc__add', { a: 2, b: 40 }),
    text('It is 42.'),
  ]);
  const messages = await run('What is 2 + 40?', {
    cwd: sandbox.cwd,
    env: sandbox.env,
    model: 'opus',
    mcpServers: { calc: calc() },
    allowedTools: ['mcp__calc__add'],
    maxTurns: 5,
    permissionMode: 'acceptEdits',
    settingSources: [],
    strictMcpConfig: true,
  });
  expect(messages.map(({ type, subtype }) => (subtype ? `${type} ${subtype}` : type))).toEqual([
    'system init',
    'assistant',
    'user',
    'assistant',
    'result success',
  ]);
  expect(messages[0]).toMatchObject({ model: 'claude-opus-5-5', permissionMode: 'acceptEdits' });
  expect(messages.at(-1)?.result).toBe('It is 42.');
  expect(sandbox.api.requests.flatMap(toolResults)).toMatchObject([
    { content: [{ type: 'text', text: '42' }] },
  ]);
});

test('works offline with the permission callback', async () => {
  await using sandbox = await openAgentSandbox();
  const messages = await run('call add with {"a": 1, "b": 2}', {
    cwd: sandbox.cwd,
    env: { HOME: sandbox.cwd, PATH: sandbox.env.PATH, TOOLPLANE_NODE: process.execPath },
    tools: [],
    model: 'rehearsal',
    mcpServers: { calc: calc() },
    canUseTool: async (_name, input) => ({ behavior: 'allow', updatedInput: { ...input, b: 20 } }),
  });
  expect(messages.at(-1)?.result).toContain('The tool said: 21');
});
