/** One thing the recorder CLI does: wait for `until`, send something, wait for the reply to a control request. */
export interface Step {
  /** `user`, `request:<subtype>` (answered) or `reply:<request_id>`. */
  readonly until?: string;
  readonly frame?: Readonly<Record<string, unknown>>;
  /** Go on without waiting for the reply to a control request. */
  readonly unawaited?: true;
  /** A line of stdout that is sent as it is. */
  readonly raw?: string;
  readonly stderr?: string;
  /** End the process at once with this code. */
  readonly exit?: number;
}

/** How the recorder CLI answers one subtype of control request; `silent` means never. */
export type Reply =
  | 'silent'
  | { readonly response?: unknown; readonly pending_permission_requests?: readonly unknown[] }
  | { readonly error: string; readonly error_code?: string };

/** What the recorder CLI does beside its plain one-answer session; sent to it as JSON in its environment. */
export interface Scenario {
  /** Played before the first reply to a control request of that subtype. */
  readonly beforeReply?: Readonly<Record<string, readonly Step[]>>;
  readonly beforeResult?: readonly Step[];
  readonly afterResult?: readonly Step[];
  readonly replies?: Readonly<Record<string, Reply>>;
  readonly exitCode?: number;
}

/** A CLI→SDK control request with a fixed id. */
export function ask(id: string, request: Readonly<Record<string, unknown>>): Step {
  return { frame: { type: 'control_request', request_id: id, request } };
}

/** A JSON-RPC message for one SDK-hosted MCP server, wrapped as the CLI wraps it. */
export function mcp(id: string, server: string, message: Readonly<Record<string, unknown>>): Step {
  return ask(id, { subtype: 'mcp_message', server_name: server, message });
}

/** A request every SDK answers at once, so that whatever was answered before it is already recorded. */
export const FENCE: Step = ask('fence', { subtype: 'no_such_subtype' });
