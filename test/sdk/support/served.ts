import { REPLIES_LATER, type Reply, type ServedRequest } from '../../../src/control/channel.ts';

/** Serves one request like a channel and returns its response, synchronous or not. */
export async function answerOf(serve: (served: ServedRequest) => Reply | Promise<Reply>): Promise<Reply> {
  const later = Promise.withResolvers<Reply>();
  const { signal } = new AbortController();
  const reply = await serve({ id: 'r', signal, reply: later.resolve });
  return reply === REPLIES_LATER ? later.promise : reply;
}
