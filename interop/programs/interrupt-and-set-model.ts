import { after, text } from '../../test/support/model-api/model-reply.ts';
import { converse } from '../conversation.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [after(new Promise(() => {}), text('Never.')), text('Here I am.')];

/** An interrupt while the model is silent and a change of the model add messages, which the model gets with the next prompt. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const conversation = converse();
  const query = sdk.query({ prompt: conversation, options: options(sandbox) });
  let turns = 0;
  let isEmptyRefused = false;
  conversation.say('Are you there?');
  const reading = transcribe(query, async (message) => {
    if (message.type !== 'result') return;
    turns += 1;
    if (turns === 2) return conversation.end();
    await query.setModel('').catch(() => {
      isEmptyRefused = true;
    });
    await query.setModel('claude-opus-5');
    conversation.say('And now?');
  });
  await sandbox.api.request(1);
  const receipt = await query.interrupt();
  return { receipt, seen: await reading, isEmptyRefused, model: modelSide(sandbox) };
}
