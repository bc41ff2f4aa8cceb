import { isRecord } from '../base/json-value.ts';

/** Every code an `SdkError` can carry: what it means and what to do. `docs/errors.md` is generated from this table. */
export const SDK_ERRORS = {
  'bad-option': {
    meaning: 'An option has an invalid value; with `strictOptions`, also an unknown option.',
    remedy: 'Correct the option that the message names.',
  },
  'unsupported-option': {
    meaning: 'An option of the official package that Toolplane does not support.',
    remedy: 'Remove the option; `docs/compatibility.md` lists the alternatives.',
  },
  'unsupported-method': {
    meaning: 'A function of the official package that Toolplane does not support.',
    remedy: 'See `docs/compatibility.md` for the alternative.',
  },
  'unknown-session': {
    meaning: 'A session function was called with the id of a session that is not stored.',
    remedy: 'Use an id that `listSessions()` returns, and the `dir` of its project or none.',
  },
  'bad-tool': {
    meaning: 'A tool definition is invalid: its name, description, handler or limits.',
    remedy: 'Correct the `tool()` call that the message names.',
  },
  'duplicate-tool': {
    meaning: 'Two tools of one server have names that normalize to the same identifier.',
    remedy: 'Rename one of them.',
  },
  'bad-schema': {
    meaning: 'A tool schema does not describe an object, or cannot be converted to JSON Schema.',
    remedy:
      'Pass a zod shape, a Standard Schema that can be converted to JSON Schema, or `{ type: "object", … }`.',
  },
  'bad-server': {
    meaning: 'An entry of `mcpServers` is invalid.',
    remedy:
      'Correct the entry that the message names; its type is one of sdk, stdio, http, sse, ws, sse-ide, ws-ide.',
  },
  'not-connected': {
    meaning: 'A channel message was sent while no client was connected to the server.',
    remedy: 'Keep the message and send it again when a client has connected.',
  },
  'unknown-tool': {
    meaning: '`server.call()` or `remove()` named a tool the server does not have.',
    remedy: 'Use one of the names in the message.',
  },
  'spawn-failed': {
    meaning: 'The agent could not be started.',
    remedy:
      'Check that the file in `pathToClaudeCodeExecutable` exists and is executable, and that `cwd` exists.',
  },
  'process-exited': {
    meaning: 'The agent process exited before the conversation ended.',
    remedy:
      'Read the last lines of its stderr in the message; set the option `stderr` to receive all of them.',
  },
  'control-failed': {
    meaning: 'The agent answered a control request with an error.',
    remedy:
      'The message comes from the agent: correct the value that it names. If the agent does not support the request, see docs/compatibility.md. `errorCode` is the error code of the agent, if it sent one.',
  },
  timeout: {
    meaning: 'The agent did not answer a control request in time.',
    remedy:
      'Raise the timeout that the message names (`controlTimeoutMs` unless another is named), or inspect the frames with `TOOLPLANE_DEBUG=frames`.',
  },
  closed: {
    meaning: 'The query or client is closed.',
    remedy: 'Open a new one.',
  },
  busy: {
    meaning: 'A turn was started while another one is running.',
    remedy: 'Read the running turn to its result first, or call `interrupt()`.',
  },
  'line-too-long': {
    meaning: 'The agent sent a line longer than `maxLineLength`.',
    remedy: 'Raise `maxLineLength`, or return less data from the tool that produced the line.',
  },
  unsendable: {
    meaning:
      'A message, or an argument or return value of a callback, cannot be serialized as JSON (a cycle, a BigInt).',
    remedy: 'Pass plain data.',
  },
  'serve-failed': {
    meaning:
      '`toolplane serve` found no tool server in the module, or `listen()` cannot listen on the address.',
    remedy:
      'If the module exports no tool server, export one: `export default createSdkMcpServer({ … })`. If the address cannot be used, choose another host or port.',
  },
  'missing-capability': {
    meaning: 'A handler requested input, a completion or the roots of a client that does not support it.',
    remedy: 'Check `ctx.clientCapabilities` first, or use a client that supports it.',
  },
  'client-request-failed': {
    meaning: 'The client answered a request of a handler with an error or an invalid result.',
    remedy: 'Catch the error in the handler, or return it: the message has the reason.',
  },
  'script-mismatch': {
    meaning:
      'A scripted agent received a frame that differs from its script, or the script or the program ended too early.',
    remedy:
      'Compare what the message says was sent with what the script expects; correct the script or the program.',
  },
} as const satisfies Record<string, { meaning: string; remedy: string }>;

/** The codes of `SdkError`. */
export type SdkErrorCode = keyof typeof SDK_ERRORS;

/** The names of errors that the official package throws too; programs log them. */
const OFFICIAL_NAMES: Readonly<Partial<Record<SdkErrorCode, string>>> = {
  'spawn-failed': 'ReferenceError',
  'process-exited': 'Error',
  'control-failed': 'Error',
  closed: 'Error',
};

/** An error of the SDK. Branch on `code`, not on the message. */
export class SdkError extends Error {
  override readonly name: string;
  readonly code: SdkErrorCode;
  /** The key of the server that the error is about, if any. */
  readonly server: string | undefined;
  /** The message without the name of the server. */
  readonly detail: string;
  /** The agent's error code, if its response to a control request had one. */
  readonly errorCode: string | undefined;

  constructor(
    code: SdkErrorCode,
    message: string,
    options: ErrorOptions & {
      server?: string | undefined;
      detail?: string | undefined;
      errorCode?: string | undefined;
    } = {},
  ) {
    super(message, options);
    this.name = OFFICIAL_NAMES[code] ?? 'SdkError';
    this.code = code;
    this.server = options.server;
    this.detail = options.detail ?? message;
    this.errorCode = options.errorCode;
  }
}

/** Thrown when the caller aborted the operation. It is not an `SdkError`. Its `name` is `Error`, as in the official package. */
export class AbortError extends Error {}

/** Thrown by a host when the caller aborted a request to a server. */
export class RequestAbortError extends AbortError {
  override readonly name = 'AbortError';
}

/** The message of any thrown value. Never throws, although a program may throw values of any kind. */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    // Errors of another realm are not `instanceof Error`, but have a message.
    if (isRecord(thrown) && typeof thrown.message === 'string') return thrown.message || String(thrown.name);
    return (thrown instanceof Error ? undefined : JSON.stringify(thrown)) ?? String(thrown);
  } catch {
    return typeof thrown === 'bigint' ? String(thrown) : `an unprintable ${typeof thrown}`;
  }
}
