import type { Session } from './contender.ts';
import type { Stage } from './fault.ts';
import { answers, check, textOf } from './judge.ts';
import { HttpServer } from './servers/http-server.ts';

/** A working HTTP server and a client that is connected to it; the fault is applied afterwards. */
export async function opened(stage: Stage): Promise<{ server: HttpServer; session: Session }> {
  const server = stage.own(await HttpServer.open());
  const session = stage.open({ a: { kind: 'http', url: server.url } });
  await answers(6_000, 'connecting', session.ready('a'));
  return { server, session };
}

/** The server answers correctly. */
export async function echo(session: Session, timeoutMs = 2_000): Promise<void> {
  const call = session.call('a', 'echo', { text: 'hi' }, { timeoutMs });
  const said = textOf(await answers(timeoutMs + 1_000, 'a call', call));
  check(said === 'hi', `the answer is "${said}"`);
}
