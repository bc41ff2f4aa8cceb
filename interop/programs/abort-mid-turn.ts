import { after, text } from '../../test/support/model-api/model-reply.ts';
import { describeError, modelSide, outline } from '../observe.ts';
import { options, type Sdk, type World } from '../program.ts';

/** A model that never answers. */
export const script = () => after(new Promise(() => {}), text('Never said.'));

/** Aborting the controller ends the loop with the package's `AbortError`. */
export async function run(sdk: Sdk, world: World): Promise<unknown> {
  const abortController = new AbortController();
  const query = sdk.query({ prompt: 'Think.', options: { ...options(world), abortController } });
  const aborting = world.api.request(1).then(() => abortController.abort());
  const messages: unknown[] = [];
  let threw: unknown;
  try {
    for await (const message of query) messages.push(outline(message));
  } catch (error) {
    threw = { ...describeError(error), isAbortError: error instanceof sdk.AbortError };
  }
  await aborting;
  return { messages, threw, model: modelSide(world) };
}
