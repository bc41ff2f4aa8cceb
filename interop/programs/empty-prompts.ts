import { text } from '../../test/support/model-api/model-reply.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = () => text('Yes?');

/** A prompt without text is sent to the model with a placeholder. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const seen: unknown[] = [];
  for (const prompt of ['', ' \n']) {
    seen.push(await transcribe(sdk.query({ prompt, options: options(sandbox) })));
  }
  const texts = sandbox.api.requests.map(({ messages }) => JSON.stringify(messages[0]?.content));
  return { seen, hasPlaceholder: texts.map((it) => it?.includes('"(no content)"')) };
}
