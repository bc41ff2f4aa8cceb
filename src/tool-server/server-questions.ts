import type { RpcId, RpcRequest } from '../protocol/json-rpc.ts';
import type { SessionPort } from './mcp-session.ts';

/** Whoever shares the session; its identity is what answers and progress are routed by. */
export type SessionUser = { readonly port: SessionPort };

/** What a shared server asks of its users. Each question has an id of its own there, and only the one asked can answer. */
export class ServerQuestions {
  readonly #open = new Map<RpcId, { user: SessionUser; id: RpcId }>();
  #nextId = 0;

  ask(user: SessionUser, request: RpcRequest): void {
    const asked = this.#nextId++;
    this.#open.set(asked, { user, id: request.id });
    user.port.send({ ...request, id: asked });
  }

  /** The server's own id of the question that `user` answers, if it is one. */
  answer(user: SessionUser, asked: RpcId): RpcId | undefined {
    const question = this.#open.get(asked);
    if (question?.user !== user) return undefined;
    this.#open.delete(asked);
    return question.id;
  }

  /** The server wants no answer any more: the one asked is told. */
  takeBack(params: Record<string, unknown>): void {
    const question = [...this.#open].find(([, { id }]) => id === params.requestId);
    if (!question) return;
    const [asked, { user }] = question;
    this.#open.delete(asked);
    user.port.send({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { ...params, requestId: asked },
    });
  }

  /** The server's own ids of the questions that `user` will not answer any more. */
  leave(user: SessionUser): RpcId[] {
    const left = [...this.#open].filter(([, question]) => question.user === user);
    return left.map(([asked, { id }]) => {
      this.#open.delete(asked);
      return id;
    });
  }

  clear(): void {
    this.#open.clear();
  }
}
