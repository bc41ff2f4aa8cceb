// A channel that turns webhooks into messages: toolplane serve examples/servers/webhook.ts
// curl -H "Authorization: Bearer $WEBHOOK_TOKEN" -d 'Build 7 failed' http://127.0.0.1:8788/build
import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { toolServer } from 'toolplane';

const MAX_BYTES = 32 * 1024;
const token = Buffer.from(`Bearer ${process.env.WEBHOOK_TOKEN ?? ''}`);
/** The responses that wait for the receipt of their message. */
const waiting = new Map<string, (isStored: boolean) => void>();

const webhook = toolServer('webhook', {
  instructions: 'Messages of this channel are webhooks of other systems; "path" says which.',
  channel: {
    onReceipt: ({ kind, id = '' }) => waiting.get(id)?.(kind === 'ack'),
  },
});
export default webhook;

export const listener = createServer(async (request, response) => {
  const answer = (status: number) => void response.writeHead(status).end();
  const given = Buffer.from(request.headers.authorization ?? '');
  if (token.length <= 'Bearer '.length || given.length !== token.length || !timingSafeEqual(given, token))
    return answer(401);
  let body: string | undefined;
  try {
    body = await readBody(request);
  } catch {
    return; // the sender went away
  }
  if (body === undefined) return answer(413);
  const id = String(request.headers['x-request-id'] || crypto.randomUUID());
  const stored = new Promise<boolean>((resolve) => {
    waiting.set(id, resolve);
    setTimeout(resolve, 5_000, false).unref();
  });
  try {
    await webhook.channel.send(body, { id, path: request.url ?? '/' });
    // The sender repeats a webhook that was not stored; its id keeps the message from being delivered twice.
    answer((await stored) ? 202 : 503);
  } catch {
    answer(503); // no agent is connected
  } finally {
    waiting.delete(id);
  }
});
listener.listen(Number(process.env.WEBHOOK_PORT ?? 8788), '127.0.0.1');

/** The body of a request; undefined if it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
