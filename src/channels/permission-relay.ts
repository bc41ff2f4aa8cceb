import { randomInt } from 'node:crypto';
import { truncate, visibleText } from '../base/text/display-text.ts';
import { redactedJson, redactText } from '../base/text/redact.ts';
import type { ChannelSetting } from '../config/settings/channel-settings.ts';
import type { Asker, Question } from '../permissions/ask.ts';
import { CHANNEL, type ChannelPermissionRequest } from '../protocol/mcp.ts';
import { type ChannelConnection, declares } from './channel-servers.ts';
import { NoteLimit } from './note-limit.ts';

/** Letters of the ids that people type; `l` is left out, because it looks like a digit. */
const LETTERS = 'abcdefghijkmnopqrstuvwxyz';
const ID_LENGTH = 5;
const PREVIEW_LENGTH = 200;
const DESCRIPTION_LENGTH = 300;
/** How long a channel may answer a request. */
const LIFETIME_MS = 60 * 60 * 1000;
/** How many ids of settled requests are not used again. */
const MAX_SPENT = 10_000;

export type RelayDeps = {
  /** The enabled channels by the name of their server. */
  readonly settings: Readonly<Record<string, Pick<ChannelSetting, 'permissions'>>>;
  /** Undefined unless the server is connected. */
  connection(server: string): ChannelConnection | undefined;
  /** Settles when the server has connected or failed; undefined unless it is connecting. */
  connecting?(server: string): Promise<unknown> | undefined;
  note(text: string): void;
  /** Time limit of a request, for tests. */
  readonly lifetimeMs?: number;
};

type OpenRequest = {
  readonly request: ChannelPermissionRequest;
  /** The channels that received the request, and the connection over which each received it last. */
  readonly sentTo: Map<string, ChannelConnection>;
  answer(behavior: 'allow' | 'deny', server: string): void;
};

/**
 * Passes permission requests on to channels. Each request has an id that is valid once, for a limited time and only for
 * the channels that received it.
 */
export class PermissionRelay {
  readonly #deps: RelayDeps;
  readonly #open = new Map<string, OpenRequest>();
  readonly #spent = new Set<string>();
  readonly #noteLimit = new NoteLimit();

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  /** Asks through the channels that are connected now; undefined if there is none. */
  get asker(): Asker | undefined {
    const channels = this.#permitted.filter((server) => this.#target(server) !== undefined);
    if (channels.length === 0) return undefined;
    return {
      name: RELAY,
      channels,
      ask: (question, signal) => this.#ask(question, channels, signal),
    };
  }

  /** Settles when a channel can answer, or when none is connecting. */
  async ready(): Promise<void> {
    if (this.asker) return;
    const attempts = this.#permitted.map(async (server) => {
      await this.#deps.connecting?.(server);
      if (!this.#target(server)) throw new Error('the channel cannot answer');
    });
    await Promise.any(attempts).catch(() => {});
  }

  /** Sends the open requests to a channel that has connected: it may have been started again and lost them. */
  connected(server: string): void {
    if (!this.#permitted.includes(server)) return;
    for (const open of this.#open.values()) this.#send(open, server);
  }

  /** Takes the answer of a server. Unknown, settled and foreign ids have no effect, nor has an answer of a sender that is not accepted. */
  receive(
    server: string,
    { request_id: id, behavior }: Readonly<Record<string, unknown>>,
    senderFault?: string,
  ): void {
    const open = typeof id === 'string' ? this.#open.get(id) : undefined;
    const isAnswer = behavior === 'allow' || behavior === 'deny';
    if (!open?.sentTo.has(server) || !isAnswer || senderFault !== undefined) {
      const why = ignoredReason(open, server, isAnswer ? senderFault : behaviorFault(behavior));
      if (this.#noteLimit.passes(server))
        this.#deps.note(`channel "${server}": an answer to a permission request was ignored: ${why}`);
      return;
    }
    open.answer(behavior, server);
  }

  /** The enabled channels that may answer. */
  get #permitted(): string[] {
    const { settings } = this.#deps;
    return Object.keys(settings).filter((server) => settings[server]?.permissions === true);
  }

  /** The connection of a channel that can answer. */
  #target(server: string): ChannelConnection | undefined {
    const connection = this.#deps.connection(server);
    const canAnswer =
      connection &&
      declares(connection, CHANNEL.capability) &&
      declares(connection, CHANNEL.permissionCapability);
    return canAnswer ? connection : undefined;
  }

  /** Sends a request to a channel, once per connection. */
  #send({ request, sentTo }: OpenRequest, server: string): void {
    const connection = this.#target(server);
    if (!connection || sentTo.get(server) === connection) return;
    sentTo.set(server, connection);
    connection.notify(CHANNEL.permissionRequest, request);
  }

  async #ask(question: Question, channels: readonly string[], signal: AbortSignal): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = this.#newId();
    let answeredBy: string | undefined;
    const open: OpenRequest = {
      request: describeRequest(id, question),
      sentTo: new Map(),
      answer: (behavior, server) => {
        answeredBy = server;
        const answer = { behavior, channel: server };
        const message = `Denied through the channel "${server}"`;
        resolve(behavior === 'allow' ? answer : { ...answer, message });
      },
    };
    this.#open.set(id, open);
    const timer = setTimeout(
      () => reject(new Error('no channel answered in time')),
      this.#deps.lifetimeMs ?? LIFETIME_MS,
    );
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      for (const server of channels) this.#send(open, server);
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.#open.delete(id);
      this.#spend(id);
      // The channel that answered needs no notification.
      for (const server of open.sentTo.keys())
        if (server !== answeredBy)
          this.#deps.connection(server)?.notify(CHANNEL.permissionSettled, { request_id: id });
    }
  }

  #newId(): string {
    for (;;) {
      const id = Array.from({ length: ID_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
      if (!this.#open.has(id) && !this.#spent.has(id)) return id;
    }
  }

  #spend(id: string): void {
    this.#spent.add(id);
    const [oldest] = this.#spent;
    if (this.#spent.size > MAX_SPENT && oldest !== undefined) this.#spent.delete(oldest);
  }
}

/** The name of the asker in reports. */
export const RELAY = 'channels';

function ignoredReason(open: OpenRequest | undefined, server: string, fault = ''): string {
  if (!open) return 'no request with this id is open';
  if (!open.sentTo.has(server)) return 'the request was not sent to this channel';
  return fault;
}

function behaviorFault(behavior: unknown): string {
  return `"behavior" must be "allow" or "deny", not ${truncate(visibleText(JSON.stringify(behavior) ?? ''), 40)}`;
}

/** What a channel receives: no more of the input than a person needs to recognize the call, with secrets masked. */
export function describeRequest(
  id: string,
  { call, reason, provenance }: Question,
): ChannelPermissionRequest {
  const from = provenance ? `Tool of MCP server "${provenance.name}". ` : '';
  const preview = visibleText(redactedJson(call.input));
  return {
    request_id: id,
    tool_name: visibleText(call.name),
    description: truncate(visibleText(redactText(`${from}${reason.text}`)), DESCRIPTION_LENGTH),
    // The person who answers must see that the preview is truncated.
    input_preview: truncate(preview, PREVIEW_LENGTH, `… (${preview.length} characters in total)`),
  };
}
