import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const fetchPage = (url: string) => toolUse('WebFetch', { url, prompt: 'What is it about?' });

export const script = [
  fetchPage('https://one.example/a?b'),
  fetchPage('https://sub.blocked.example/'),
  fetchPage('https://blocked.example/x'),
  fetchPage('http://intranet/'),
  text('Done.'),
];

/** Pages are requested after approval of their host, and rules name hosts. Nothing is requested here. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const seen: unknown[] = [];
  const query = sdk.query({
    prompt: 'Look it up.',
    options: {
      ...options(sandbox),
      tools: ['WebFetch'],
      settings: { permissions: { deny: ['WebFetch(domain:blocked.example)'] } },
      canUseTool: async (name, input, { suggestions }) => {
        seen.push(['asked', name, input, suggestions]);
        return { behavior: 'deny', message: 'Not that one.' };
      },
    },
  });
  for await (const message of query)
    if (message.type === 'result')
      seen.push(['denials', message.permission_denials.map(({ tool_input }) => tool_input)]);
  return seen;
}
