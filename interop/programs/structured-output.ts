import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

/** The model answers with text, then with invalid output, then with valid output. */
export const script = [
  text('Three, I think.'),
  toolUse('StructuredOutput', { count: 'three', unit: 3 }),
  toolUse('StructuredOutput', { count: 3, note: 'not in the schema' }),
];

/** The result carries the valid output; hooks see the tool, `canUseTool` does not. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const hooked: unknown[] = [];
  const asked: string[] = [];
  const query = sdk.query({
    prompt: 'How many?',
    options: {
      ...options(sandbox),
      outputFormat: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { count: { type: 'integer' }, unit: { type: 'string' } },
          required: ['count'],
        },
      },
      canUseTool: async (name, input) => {
        asked.push(name);
        return { behavior: 'allow', updatedInput: input };
      },
      hooks: {
        PostToolUse: [
          {
            hooks: [
              async (input) => {
                if (input.hook_event_name === 'PostToolUse')
                  hooked.push(input.tool_name, input.tool_response);
                return {};
              },
            ],
          },
        ],
      },
    },
  });
  const seen = await transcribe(query);
  return { seen, hooked, asked, model: modelSide(sandbox) };
}
