import type { ServerResponse } from 'node:http';
import type { Session } from '../contender.ts';
import type { Stage } from '../fault.ts';
import { answers, check, eventually, textOf } from '../judge.ts';
import { HttpServer } from '../servers/http-server.ts';

/** A client connected to a server that works except for its tool `bent`; `calls` counts the runs of that tool. */
export async function bent(
  stage: Stage,
  answer: (response: ServerResponse, id: unknown) => void,
  more: { headersHelper?: string } = {},
): Promise<{ server: HttpServer; session: Session; calls: () => number }> {
  const server = stage.own(await HttpServer.open());
  server.tools.set('bent', () => 'straight');
  server.intercept = ({ rpc }, response) => {
    if (rpc.method !== 'tools/call' || rpc.params?.name !== 'bent') return false;
    answer(response, rpc.id);
    return true;
  };
  const session = stage.open({ a: { kind: 'http', url: server.url, ...more } });
  await answers(6_000, 'connecting', session.ready('a'));
  const calls = () => server.asked('tools/call').filter(({ rpc }) => rpc.params?.name === 'bent').length;
  return { server, session, calls };
}

/** Calls of another tool work, at once or soon. */
export async function worksAgain(session: Session, withinMs = 6_000): Promise<void> {
  const said = await eventually(withinMs, 'calling again', async () =>
    textOf(await session.call('a', 'echo', { text: 'hi' }, { timeoutMs: 2_000 })),
  );
  check(said === 'hi', `the answer is "${said}"`);
}
