import type { ControlAnswer } from '../../control/channel.ts';
import type { SdkPort } from '../../mcp/connection/connect-context.ts';
import type { Frame } from '../../protocol/control-frame.ts';

/** The ways to the servers that live in the program: every message to one is a control request of its own. */
export class ProgramPorts {
  readonly #ask: (body: Frame & { subtype: string }, signal: AbortSignal) => Promise<ControlAnswer>;
  readonly #listeners = new Map<string, (message: unknown) => void>();

  constructor(ask: (body: Frame & { subtype: string }, signal: AbortSignal) => Promise<ControlAnswer>) {
    this.#ask = ask;
  }

  open(server: string): SdkPort {
    return {
      send: async (message, signal) => {
        const body = { subtype: 'mcp_message', server_name: server, message: message as unknown as Frame };
        return (await this.#ask(body, signal)).response.mcp_response;
      },
      listen: (receive) => {
        this.#listeners.set(server, receive);
        return () => {
          // Somebody else may have come to the same name meanwhile.
          if (this.#listeners.get(server) === receive) this.#listeners.delete(server);
        };
      },
    };
  }

  /** What a server sent by itself. */
  deliver(server: string, message: unknown): void {
    this.#listeners.get(server)?.(message);
  }
}
