import { error } from '../../test/support/model-api/model-reply.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = () => error(400, 'the prompt is too strange');

/** A model that cannot be reached ends the query with a result that is an error, and then with a throw. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  return { seen: await transcribe(sdk.query({ prompt: 'Hello.', options: options(sandbox) })) };
}
