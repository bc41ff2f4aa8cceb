import { text } from '../../test/support/model-api/model-reply.ts';
import { converse } from '../conversation.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [text('Blue it is.'), text('You said blue.')];

/** The session is resumed as soon as its result was seen, while the first query is still open. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const conversation = converse();
  const first = sdk.query({ prompt: conversation, options: options(sandbox) });
  conversation.say('My color is blue.');
  let resumed: unknown;
  let isSame: boolean | undefined;
  await transcribe(first, async (message) => {
    if (message.type !== 'result') return;
    const resume = message.session_id;
    const second = sdk.query({ prompt: 'Which color?', options: { ...options(sandbox), resume } });
    resumed = await transcribe(second, (it) => {
      if (it.type === 'result') isSame = it.session_id === resume;
    });
    conversation.end();
  });
  const asked = JSON.stringify(sandbox.api.requests.at(-1)?.messages);
  return { resumed, isSame, remembers: asked.includes('My color is blue.') && asked.includes('Blue it is.') };
}
