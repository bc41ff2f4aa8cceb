import { once } from 'node:events';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { converse } from '../conversation.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('mcp__slow__wait', {}),
  toolUse('mcp__slow__quick', {}),
  text('That was quick.'),
];

/** An interrupt aborts the running handler's signal, ends the turn, and leaves the next turn whole. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const started = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<boolean>();
  const wait = sdk.tool('wait', 'Waits until it is stopped', {}, async (_args, extra) => {
    const { signal } = extra as { signal: AbortSignal };
    started.resolve();
    if (!signal.aborted) await once(signal, 'abort');
    stopped.resolve(signal.aborted);
    return { content: [{ type: 'text', text: 'stopped' }] };
  });
  const quick = sdk.tool('quick', 'Is quick', {}, async () => ({
    content: [{ type: 'text', text: 'done' }],
  }));
  const slow = sdk.createSdkMcpServer({ name: 'slow', tools: [wait, quick] });
  const conversation = converse();
  const query = sdk.query({
    prompt: conversation,
    options: { ...options(sandbox), mcpServers: { slow }, allowedTools: ['mcp__slow'] },
  });
  let turns = 0;
  conversation.say('Wait.');
  const reading = transcribe(query, (message) => {
    if (message.type !== 'result') return;
    turns += 1;
    if (turns === 1) conversation.say('Be quick.');
    else conversation.end();
  });
  await started.promise;
  const receipt = await query.interrupt();
  return { receipt, wasAborted: await stopped.promise, seen: await reading, model: modelSide(sandbox) };
}
