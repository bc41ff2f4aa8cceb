import { Queue } from '../base/async/queue.ts';
import { isEqualJson, isRecord } from '../base/json-value.ts';
import { encodeFrame, type Frame } from '../protocol/control-frame.ts';
import { readRpc } from '../protocol/json-rpc.ts';
import { SdkError } from '../protocol/sdk-error.ts';

import type { AgentLink } from './link.ts';

/** A notification of one of the program's servers: progress, a log message, a changed list. */
export type ServerNotification = {
  readonly server: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
};

/**
 * The agent's side of a link in a test: reads the frames that the program sends and sends frames to it. Instances
 * are independent.
 */
export class ScriptedAgent {
  /** Every frame the program sent, in order. */
  readonly sent: Frame[] = [];
  /** Every frame the agent sent, in order. */
  readonly emitted: Frame[] = [];
  readonly #toProgram = new Queue<Frame>();
  readonly #arrived: (() => void)[] = [];
  readonly #untaken: Frame[] = [];
  readonly #awaited = new Set<string>();
  #ended = false;

  /** The program's side of the link. */
  readonly link: AgentLink = {
    frames: this.#toProgram,
    send: (frame) => {
      const line = encodeFrame(frame);
      if (this.#ended) {
        const refused = Promise.reject(new SdkError('closed', 'The scripted agent has closed its input'));
        refused.catch(() => {});
        return refused;
      }
      const sent = JSON.parse(line) as Frame;
      this.sent.push(sent);
      this.#untaken.push(sent);
      this.#wake();
      return Promise.resolve();
    },
    end: () => {
      this.#ended = true;
      this.#wake();
    },
    close: async () => {
      this.#ended = true;
      this.#wake();
      this.#toProgram.end();
    },
  };

  /** Notifications of the program's servers so far, in order. */
  get notifications(): ServerNotification[] {
    return this.sent.map(notificationOf).filter((it) => it !== undefined);
  }

  /** True when the program has closed its side. */
  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Sends a frame to the program. */
  emit(frame: Frame): void {
    const frameCopy = JSON.parse(encodeFrame(frame)) as Frame;
    this.emitted.push(frameCopy);
    this.#toProgram.push(frameCopy);
  }

  /**
   * Waits for the next frame of the program. Rejects if the program closes, or if the frame lacks the expected fields.
   * Skips responses that another call awaits, and notifications of servers unless an `mcp_message` is expected.
   */
  async take(expected: Frame = {}): Promise<Frame> {
    const wantsNotifications = includes(expected, { request: { subtype: 'mcp_message' } });
    const frame = await this.#next(
      (it) => !this.#awaited.has(answeredId(it) ?? '') && (wantsNotifications || !notificationOf(it)),
      expected,
    );
    if (!includes(frame, expected)) {
      throw new SdkError(
        'script-mismatch',
        `The program sent ${JSON.stringify(frame)}; expected ${JSON.stringify(expected)}`,
      );
    }
    return frame;
  }

  /** Waits for the program's response to the request with this id. */
  async takeAnswer(id: string): Promise<Frame> {
    this.#awaited.add(id);
    try {
      const expected = { type: 'control_response', response: { request_id: id } };
      return await this.#next((it) => answeredId(it) === id, expected);
    } finally {
      this.#awaited.delete(id);
    }
  }

  /** Waits for the next unread notification with this method. */
  async takeNotification(method: string): Promise<ServerNotification> {
    const expected = { request: { subtype: 'mcp_message', message: { method } } };
    const frame = await this.#next((it) => notificationOf(it)?.method === method, expected);
    return notificationOf(frame) as ServerNotification;
  }

  /** Resolves when the program has closed its side. */
  async ended(): Promise<void> {
    while (!this.#ended) await this.#arrival();
  }

  /** Closes the agent's side, normally or with the error `cause`. */
  leave(cause?: Error): void {
    this.#ended = true;
    this.#wake();
    if (cause) this.#toProgram.fail(cause);
    else this.#toProgram.end();
  }

  async #next(fits: (frame: Frame) => boolean, expected: Frame): Promise<Frame> {
    for (;;) {
      const index = this.#untaken.findIndex(fits);
      if (index >= 0) return this.#untaken.splice(index, 1)[0] as Frame;
      if (this.#ended)
        throw new SdkError('script-mismatch', `The program ended; expected ${JSON.stringify(expected)}`);
      await this.#arrival();
    }
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => this.#arrived.push(resolve));
  }

  #wake(): void {
    for (const resume of this.#arrived.splice(0)) resume();
  }
}

function answeredId({ type, response }: Frame): string | undefined {
  if (type !== 'control_response' || !isRecord(response)) return undefined;
  return typeof response.request_id === 'string' ? response.request_id : undefined;
}

/** Undefined for a request of a server, which needs an answer and is taken like any request. */
function notificationOf({ type, request }: Frame): ServerNotification | undefined {
  if (type !== 'control_request' || !isRecord(request) || request.subtype !== 'mcp_message') return undefined;
  const read = readRpc(request.message);
  if (read.kind !== 'notification') return undefined;
  return { server: String(request.server_name), method: read.method, params: read.params };
}

/** Every member of `expected` is in `actual`; objects are compared member by member, everything else must be equal. */
function includes(actual: unknown, expected: unknown): boolean {
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected)) {
    return isEqualJson(actual, expected);
  }
  if (typeof actual !== 'object' || actual === null) return false;
  return Object.entries(expected).every(([key, value]) => includes((actual as Frame)[key], value));
}
