// A loopback endpoint with OpenAI's chat completions API, as in Ollama, vLLM and LM Studio.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** The part of a request that the examples read. */
export type CompletionRequest = {
  model: string;
  messages: { role: string; content: unknown; tool_calls?: unknown }[];
  tools?: { function: { name: string } }[];
};

/** The next output of the model: text, or a tool call. */
export type CompletionReply = { text: string } | { call: string; input: object };

/** Opens an endpoint; `baseUrl` is the value for `OPENAI_BASE_URL`. */
export async function openLoopbackModel(
  reply: (request: CompletionRequest) => CompletionReply,
): Promise<AsyncDisposable & { readonly baseUrl: string }> {
  const server = createServer(async (incoming, outgoing) => {
    const request = (await json(incoming)) as CompletionRequest;
    const { delta, finish_reason } = deltaOf(reply(request));
    const chunk = { id: 'completion-1', object: 'chat.completion.chunk', created: 0, model: request.model };
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const choice of [
      { index: 0, delta, finish_reason: null },
      { index: 0, delta: {}, finish_reason },
    ])
      outgoing.write(`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`);
    outgoing.end('data: [DONE]\n\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function deltaOf(reply: CompletionReply) {
  if ('text' in reply)
    return { delta: { role: 'assistant', content: reply.text }, finish_reason: 'stop' as const };
  const called = { name: reply.call, arguments: JSON.stringify(reply.input) };
  const tool_calls = [{ index: 0, id: 'call_1', type: 'function', function: called }];
  return { delta: { role: 'assistant', tool_calls }, finish_reason: 'tool_calls' as const };
}
