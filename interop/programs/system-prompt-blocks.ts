import { text } from '../../test/support/model-api/model-reply.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [text('Hello.')];

/** The marker between the static and the dynamic blocks of a system prompt is not sent to the model. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const marker = sdk.SYSTEM_PROMPT_DYNAMIC_BOUNDARY;
  const query = sdk.query({
    prompt: 'Hello.',
    options: { ...options(sandbox), systemPrompt: ['First block.', marker, 'Second block.'] },
  });
  const seen = await transcribe(query);
  const systems = sandbox.api.requests.map(({ system }) => JSON.stringify(system));
  return {
    marker,
    seen,
    joined: systems.map((it) => it.includes(JSON.stringify('First block.\n\nSecond block.').slice(1, -1))),
    hasMarker: systems.map((it) => it.includes(marker)),
  };
}
