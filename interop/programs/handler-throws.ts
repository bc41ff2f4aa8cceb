import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('mcp__shop__throw_error', {}),
  toolUse('mcp__shop__throw_string', {}),
  toolUse('mcp__shop__return_error', {}),
  text('All of them failed.'),
];

/** A handler that throws, and one that returns an error, fail the call and nothing else. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const throwError = sdk.tool('throw_error', 'Throws an Error', {}, async () => {
    throw new RangeError('the shelf is empty');
  });
  const throwString = sdk.tool('throw_string', 'Throws a string', {}, async () => {
    throw 'no shelf at all';
  });
  const returnError = sdk.tool('return_error', 'Returns an error', {}, async () => ({
    isError: true,
    content: [
      { type: 'text', text: 'closed' },
      { type: 'text', text: 'until Monday' },
    ],
  }));
  const shop = sdk.createSdkMcpServer({ name: 'shop', tools: [throwError, throwString, returnError] });
  const query = sdk.query({
    prompt: 'Look at the shelf.',
    options: { ...options(sandbox), mcpServers: { shop }, allowedTools: ['mcp__shop'] },
  });
  const seen = await transcribe(query);
  return { seen, model: modelSide(sandbox) };
}
