/** One content block as a client sent it. */
export type RequestBlock = { readonly type: string; readonly [key: string]: unknown };

/** One turn of the conversation as a client sent it. */
export type RequestMessage = {
  readonly role: string;
  readonly content: string | readonly RequestBlock[];
};

/** A tool as the model sees it. */
export type RequestTool = { readonly name: string; readonly [key: string]: unknown };

/** The body of `POST /v1/messages`; members not named here are kept as they came. */
export type MessagesRequest = {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly RequestMessage[];
  readonly system?: string | readonly RequestBlock[];
  readonly tools?: readonly RequestTool[];
  readonly stream?: boolean;
  readonly thinking?: { readonly type: string; readonly [key: string]: unknown };
  readonly output_config?: { readonly format?: unknown; readonly effort?: string };
  readonly [key: string]: unknown;
};

/** Checks only the members that the fake reads; the real API would answer with status 400. */
export function parseMessagesRequest(body: string): MessagesRequest | undefined {
  try {
    const raw: unknown = JSON.parse(body);
    return isMessagesRequest(raw) ? raw : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether the client asks for itself rather than for the conversation: an agent CLI names its session (no
 * tools, a JSON schema for the title) and probes its quota (one token) whenever it likes.
 */
export function isSideRequest(request: MessagesRequest): boolean {
  const hasTools = (request.tools ?? []).length > 0;
  return !hasTools && (request.max_tokens === 1 || request.output_config?.format !== undefined);
}

function isMessagesRequest(raw: unknown): raw is MessagesRequest {
  if (typeof raw !== 'object' || raw === null) return false;
  return 'model' in raw && 'messages' in raw && Array.isArray(raw.messages);
}
