import { after, text } from '../../test/support/model-api/model-reply.ts';
import { describeError, modelSide, outline } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

/** A model that never answers. */
export const script = () => after(new Promise(() => {}), text('Never said.'));

/** Aborting the controller ends the loop with the package's `AbortError`. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const abortController = new AbortController();
  const query = sdk.query({ prompt: 'Think.', options: { ...options(sandbox), abortController } });
  const aborting = sandbox.api.request(1).then(() => abortController.abort());
  const messages: unknown[] = [];
  let threw: unknown;
  try {
    for await (const message of query) messages.push(outline(message));
  } catch (error) {
    threw = { ...describeError(error), isAbortError: error instanceof sdk.AbortError };
  }
  await aborting;
  return { messages, threw, model: modelSide(sandbox) };
}
