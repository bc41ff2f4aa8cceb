import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

/** The body of `POST /chat/completions`, as it came. */
export type CompletionRequest = {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly [key: string]: unknown }[];
  readonly [key: string]: unknown;
};

/** The reply of the endpoint: chunks in order, optionally truncated, or an error. */
export type CompletionReply =
  | { readonly chunks: readonly object[]; readonly isCut?: boolean }
  | { readonly status: number; readonly error: object; readonly headers?: Record<string, string> };

/** A chat completions endpoint on loopback that replies from a script. */
export interface OpenAiApi extends AsyncDisposable {
  /** For `OPENAI_BASE_URL`. */
  readonly url: string;
  readonly requests: readonly CompletionRequest[];
  readonly headers: readonly IncomingMessage['headers'][];
}

/** A chunk with one choice; `delta` and `finish_reason` as the wire has them. */
export function chunk(delta: object, finish_reason: string | null = null): object {
  return { ...HEAD, choices: [{ index: 0, delta, finish_reason }] };
}

/** The last chunk, which has the counts and no choice. */
export function usageChunk(usage: object): object {
  return { ...HEAD, choices: [], usage };
}

/** A piece of a tool call. */
export function callChunk(
  index: number | undefined,
  id: string | undefined,
  name?: string,
  json?: string,
): object {
  const called = { ...(name !== undefined && { name }), ...(json !== undefined && { arguments: json }) };
  return chunk({ tool_calls: [{ index, id, type: 'function', function: called }] });
}

/** Replies in order; a request beyond the script is answered with status 400. */
export async function startOpenAiApi(script: readonly CompletionReply[]): Promise<OpenAiApi> {
  const requests: CompletionRequest[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await readText(incoming);
    if (incoming.url !== '/v1/chat/completions')
      return sendJson(response, 404, { error: { message: 'Not found' } });
    headers.push(incoming.headers);
    const n = requests.push(JSON.parse(body) as CompletionRequest);
    const none = { status: 400, error: { message: `the script has no reply for request ${n}` } };
    send(response, script[n - 1] ?? none);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    headers,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const HEAD = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'local' };

function send(response: ServerResponse, reply: CompletionReply): void {
  if ('status' in reply) {
    sendJson(response, reply.status, { error: reply.error }, reply.headers);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const lines = reply.chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
  if (reply.isCut) response.write(lines, () => response.socket?.resetAndDestroy());
  else response.end(`${lines}data: [DONE]\n\n`);
}

function sendJson(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
