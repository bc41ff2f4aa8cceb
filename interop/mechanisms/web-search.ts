import type { MessagesRequest } from '../../test/support/model-api/messages-request.ts';
import type { Reply } from '../../test/support/model-api/model-reply.ts';
import { raw, text, together, toolUse } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const HITS = [
  {
    type: 'web_search_result',
    title: 'One',
    url: 'https://one.example/',
    encrypted_content: 'x',
    page_age: null,
  },
  {
    type: 'web_search_result',
    title: 'Two',
    url: 'https://two.example/',
    encrypted_content: 'y',
    page_age: null,
  },
];

const CALLS = [
  { query: 'tool planes' },
  { query: 'only here', allowed_domains: ['one.example'] },
  { query: 'both', allowed_domains: ['one.example'], blocked_domains: ['two.example'] },
  { query: 'fails', blocked_domains: ['two.example'] },
];

/** The replies to searches are those of the search tool of the API. */
export function script(request: MessagesRequest, n: number): Reply {
  if (isSearch(request)) {
    const id = `srvtoolu_${n}`;
    const isFailed = JSON.stringify(request.messages).includes('fails');
    const error = { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' };
    return together(
      text('Let me look.'),
      raw({ type: 'server_tool_use', id, name: 'web_search', input: { query: 'q' } } as { type: string }),
      raw({ type: 'web_search_tool_result', tool_use_id: id, content: isFailed ? error : HITS } as {
        type: string;
      }),
      text('One and Two are about it.'),
    );
  }
  const asked = request.messages.filter(({ role }) => role === 'assistant').length;
  const call = CALLS[asked];
  return call ? toolUse('WebSearch', call) : text('Done.');
}

/** A search is a model request with the search tool of the API. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const seen: unknown[] = [];
  const query = sdk.query({
    prompt: 'Search.',
    options: {
      ...options(sandbox),
      tools: ['WebSearch'],
      canUseTool: async (name, input, { suggestions }) => {
        seen.push(['asked', name, input, suggestions]);
        return { behavior: 'allow', updatedInput: input };
      },
    },
  });
  for await (const message of query) {
    if (message.type === 'system' && message.subtype === 'init') seen.push(['tools', message.tools]);
    if (message.type === 'result') seen.push(['usage', message.usage.server_tool_use]);
    if (message.type !== 'user' || !Array.isArray(message.message.content)) continue;
    const [block] = message.message.content;
    if (block?.type !== 'tool_result') continue;
    seen.push(['result', block.is_error === true, block.content, message.tool_use_result]);
  }
  const requests = sandbox.api.requests.filter(isSearch);
  return [...seen, requests.map(({ tools, tool_choice, thinking }) => ({ tools, tool_choice, thinking }))];
}

function isSearch(request: MessagesRequest): boolean {
  return (request.tools ?? []).some(({ type }) => String(type).startsWith('web_search'));
}
