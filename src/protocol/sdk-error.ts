import { isRecord } from '../base/json-value.ts';

/** Every code an `SdkError` can carry: what it means and what to do. `docs/errors.md` is generated from this table. */
export const SDK_ERRORS = {
  'bad-option': {
    meaning: 'An option has a value that cannot be used.',
    remedy: 'The message names the option and what it accepts; correct it there.',
  },
  'unsupported-option': {
    meaning: 'An option of the official package that Toolplane refuses rather than ignores.',
    remedy: 'Remove it; `docs/compatibility.md` lists what each refused option can be replaced with.',
  },
  'unsupported-method': {
    meaning: 'A function of the official package that Toolplane does not offer.',
    remedy: 'See `docs/compatibility.md` for the way to do the same here.',
  },
  'bad-tool': {
    meaning: 'A tool definition is wrong: its name, description, handler or limits.',
    remedy: 'Correct the `tool()` call that the message names.',
  },
  'duplicate-tool': {
    meaning: 'Two tools of one server have the same name, or names that become the same for the model.',
    remedy: 'Rename one of them.',
  },
  'bad-schema': {
    meaning: 'A tool schema is no object schema, or its library gives no JSON Schema.',
    remedy: 'Pass a zod shape, a Standard Schema that can give JSON Schema, or `{ type: "object", … }`.',
  },
  'bad-server': {
    meaning: 'An entry of `mcpServers` cannot be used.',
    remedy: 'The message names the key and the fault; each entry is one of sdk, stdio, http, sse, ws.',
  },
  'unknown-tool': {
    meaning: '`server.call()` or `remove()` named a tool the server does not have.',
    remedy: 'Use one of the names in the message.',
  },
  'spawn-failed': {
    meaning: 'The agent could not be started.',
    remedy: 'Check that the path exists and is executable, and that `cwd` exists.',
  },
  'process-exited': {
    meaning: 'The agent CLI ended while something was still expected of it.',
    remedy: 'Read the last lines of its stderr in the message; set `stderr` to see all of them.',
  },
  'control-failed': {
    meaning: 'The agent answered a control request with a failure.',
    remedy: 'The message is the agent’s own; `errorCode` has its code when it gave one.',
  },
  timeout: {
    meaning: 'The agent did not answer a control request in time.',
    remedy: 'Raise `controlTimeoutMs`, or look at `TOOLPLANE_DEBUG=frames` for what it was doing.',
  },
  closed: {
    meaning: 'The query or client is closed.',
    remedy: 'Open a new one; a closed one cannot be used again.',
  },
  busy: {
    meaning: 'A turn was begun while another one runs; a client has one at a time.',
    remedy: 'Read the running turn to its result first; `interrupt()` brings that about sooner.',
  },
  'line-too-long': {
    meaning: 'The agent sent a line longer than `maxLineLength`.',
    remedy: 'Raise `maxLineLength`, or make the tool that produced it return less.',
  },
  unsendable: {
    meaning: 'A value cannot be written as JSON (a cycle, a BigInt).',
    remedy: 'Return plain data.',
  },
  'serve-failed': {
    meaning: '`toolplane serve` found no tool server in the module.',
    remedy: 'Export one: `export default createSdkMcpServer({ … })`.',
  },
  'script-mismatch': {
    meaning: 'A scripted agent expected another frame than the one it got.',
    remedy: 'Compare the two frames in the message; correct the script or the program under test.',
  },
} as const satisfies Record<string, { meaning: string; remedy: string }>;

/** The codes of `SdkError`. */
export type SdkErrorCode = keyof typeof SDK_ERRORS;

/** An error of the SDK. Branch on `code`, not on the message. */
export class SdkError extends Error {
  override readonly name: string = 'SdkError';
  readonly code: SdkErrorCode;
  /** The key of the server that the error is about, if any. */
  readonly server: string | undefined;
  /** The agent's error code, if its response to a control request had one. */
  readonly errorCode: string | undefined;

  constructor(
    code: SdkErrorCode,
    message: string,
    options: ErrorOptions & { server?: string | undefined; errorCode?: string | undefined } = {},
  ) {
    super(message, options);
    this.code = code;
    this.server = options.server;
    this.errorCode = options.errorCode;
  }
}

/** Thrown when the caller aborted the operation. It is not an `SdkError`. */
export class AbortError extends Error {
  override readonly name: string = 'AbortError';
}

/** What a person reads of any thrown value. Total: handlers throw whatever they like. */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    // Errors of another realm are no `Error` here, but have a message all the same.
    if (isRecord(thrown) && typeof thrown.message === 'string') return thrown.message || String(thrown.name);
    return (thrown instanceof Error ? undefined : JSON.stringify(thrown)) ?? String(thrown);
  } catch {
    return typeof thrown === 'bigint' ? String(thrown) : `an unprintable ${typeof thrown}`;
  }
}
