import { text } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const UNKNOWN = '00000000-0000-4000-8000-00000000000a';

export const script = [text('One.'), text('Two.')];

/** A session to resume that does not exist is an error result; a title resumes the session that has it. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const observe = async (more: object): Promise<unknown> => {
    const seen: unknown[] = [];
    const query = sdk.query({ prompt: 'Hi.', options: { ...options(sandbox), ...more } });
    try {
      for await (const message of query) {
        if (message.type !== 'result') continue;
        const { usage: _, modelUsage: __, result_index: ___, ...rest } = message as Record<string, unknown>;
        seen.push(message.is_error ? rest : message.subtype);
      }
    } catch (thrown) {
      seen.push({ thrown: (thrown as Error).message });
    }
    const late = await query.interrupt().catch((thrown: Error) => thrown.message);
    return { seen, late };
  };
  return [
    await observe({ resume: UNKNOWN }),
    await observe({ resume: 'No such title' }),
    await observe({ title: 'A title' }),
    await observe({ resume: 'a TITLE ' }),
  ];
}
