import { text } from '../../test/support/model-api/model-reply.ts';
import { type Message, options, type Sandbox, type Sdk } from '../program.ts';

export const script = [text('One.'), text('Two.'), text('Three.')];

/** The title of a session is reported before the first turn of a query, also when the session is resumed or forked. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const seen: unknown[] = [];
  const turn = async (more: object): Promise<string> => {
    const messages: Message[] = [];
    const given = { ...options(sandbox), ...more };
    for await (const message of sdk.query({ prompt: 'Hi.', options: given })) messages.push(message);
    seen.push(messages.flatMap((it) => titleOf(it) ?? []));
    return messages.at(-1)?.session_id ?? '';
  };
  const resume = await turn({ title: 'A first title' });
  await turn({ resume, title: 'Another title' });
  await turn({ resume, forkSession: true });
  return seen;
}

function titleOf(message: Message): string | undefined {
  if (message.type !== 'system') return undefined;
  const { subtype, title } = message as { subtype: string; title?: string };
  return subtype === 'init' ? 'init' : title;
}
