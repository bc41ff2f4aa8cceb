import { cutOff, text } from '../../test/support/model-api/model-reply.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

/** The only block of a reply ends with the fourth event. */
export const script = [cutOff(text('half'), 3), text('whole'), cutOff(text('first'), 4), text('second')];

/** Replies that end early: within a block, whose message is requested again, and after one, which is continued. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const ask = (prompt: string) =>
    transcribe(sdk.query({ prompt, options: { ...options(sandbox), includePartialMessages: true } }));
  return { within: await ask('in a block'), after: await ask('after a block') };
}
