import { toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

/** A model that never gives the required member. */
export const script = () => toolUse('StructuredOutput', {});

/** After five attempts the query ends with an error result that names the last error. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const query = sdk.query({
    prompt: 'How many?',
    options: {
      ...options(sandbox),
      outputFormat: {
        type: 'json_schema',
        schema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
      },
    },
  });
  const seen = await transcribe(query);
  return { seen, model: modelSide(sandbox) };
}
