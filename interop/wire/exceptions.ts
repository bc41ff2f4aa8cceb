/** Cases in which Toolplane deliberately sends something different from the official SDK, and the reason (R81). */
export interface WireException {
  /** Case names, or a pattern for several. */
  readonly cases: readonly (string | RegExp)[];
  readonly reason: string;
}

/** Listed cases must differ and all others must be equal byte for byte; a listed case that no longer differs fails the test. */
export const EXCEPTIONS: readonly WireException[] = [
  {
    cases: [/^argv: unsafe /],
    reason:
      'An invalid value that would disable a guard or a restriction is rejected with an error that names the option, before the agent starts: callbacks that are not functions, `tools` or directories that are not lists, and an item of a list of tool rules that is not exactly one rule, such as `Read,Bash`.',
  },
  {
    cases: ['argv: null values'],
    reason:
      'Null counts as not given for every option; the official package throws for some options that are null.',
  },
  {
    cases: ['argv: mcpServers with a bad entry', 'argv: sdk entry without instance'],
    reason: 'An invalid server entry is rejected with an error that names its key, before the agent starts.',
  },
  {
    cases: [/^session: sessionStore( eager| with what stands around it| resume unknown| resume)?$/],
    reason: '`sessionStore` is rejected with `unsupported-option`.',
  },
  {
    cases: ['session: loadTimeoutMs alone', 'session: sessionStoreFlush alone'],
    reason:
      '`loadTimeoutMs` and `sessionStoreFlush`, which are used only with `sessionStore`, are rejected with `unsupported-option`.',
  },
  {
    cases: ['tool: date', 'tool: bigint'],
    reason:
      'A schema that cannot be converted to JSON Schema is an error when the server is created, instead of a tool that is missing from the list.',
  },
  {
    cases: [/^session: startup/],
    reason:
      'With `startup()`, `CLAUDE_CODE_SDK_READS_STARTUP_MARKS` is not set, because Toolplane does not read the timing marks that this variable requests.',
  },
  {
    cases: [
      'initialize: refused',
      'input: streamed, initialize never answered',
      'input: initialize unanswered until the user line',
      'method: initializationResult when initialize was refused',
    ],
    reason: 'The first prompt is sent after `initialize` succeeded, and not at all if it failed.',
  },
  {
    cases: ['mcp: full handshake before the initialize reply, manifests off'],
    reason:
      'If the agent sends MCP messages to an in-process server before it replies to the control request `initialize`, the prompt is still sent only after that reply, and the reply to an MCP notification has no id.',
  },
  {
    cases: ['hook: throw'],
    reason:
      'A `PreToolUse` or `PermissionRequest` hook that throws denies the call, and a `UserPromptSubmit` hook that throws blocks the prompt; with the official package both continue.',
  },
  {
    cases: [
      'input: one streamed message, a request before the result',
      'input: two streamed messages, a request after the first result',
      /^input: streamed with (a stdio server|empty hooks|permissionPromptToolName), a request before the result$/,
      'input: two streamed messages with an sdk server, a request after the first result',
    ],
    reason:
      'After the last streamed message stdin stays open until every result has arrived, so that all requests can be answered.',
  },
  {
    cases: [
      'initialize: sdk server without tools',
      'initialize: sdk server with no tools list',
      'initialize: sdk server timeout',
      'mcp: tools/list of a server without tools',
      'mcp: tools/list of a server with an empty list',
    ],
    reason:
      'A server without tools declares the tools capability and an empty list, because tools can be added later.',
  },
  {
    cases: [
      /^canUseTool: return (undefined|nonsense|an unknown behavior|a text)$/,
      'canUseTool: allow with a wrong updatedInput',
    ],
    reason: 'A malformed return value of `canUseTool` denies the call.',
  },
  {
    cases: ['canUseTool: cancelled by the CLI, then answered', 'hook: cancelled by the CLI'],
    reason: 'A control request (a permission request, a hook) that the agent cancelled gets no reply.',
  },
  {
    cases: ['hook: return null'],
    reason: 'A hook that returns null produces a reply without output.',
  },
  {
    cases: ['elicitation: return undefined', 'dialog: return undefined'],
    reason:
      'An elicitation handler that returns `undefined` declines; a dialog handler that returns `undefined` cancels.',
  },
  {
    cases: ['dialog: no callback'],
    reason: 'A dialog request without a handler is answered as cancelled.',
  },
  {
    cases: ['request: no subtype'],
    reason: 'A control request without a subtype is rejected as malformed.',
  },
  {
    cases: ['mcp: initialize without params'],
    reason: 'An MCP `initialize` without params is answered.',
  },
  {
    cases: [/^mcp: (notifications\/initialized|unknown notification|a response nobody asked for)$/],
    reason: 'The reply to an MCP notification has no id, because a JSON-RPC notification has none.',
  },
  {
    cases: ['mcp: tools/call no arguments', 'mcp: tools/call empty tool without arguments'],
    reason: 'A tool call without `arguments` is treated as a call with `{}`.',
  },
  {
    cases: [
      /^mcp: tools\/call (unknown tool|without name)$/,
      /^mcp: (resources\/list|prompts\/list|logging\/setLevel|unknown method|server\/discover)$/,
    ],
    reason: 'An error about an unknown tool or method contains its name.',
  },
  {
    cases: ['mcp: unknown server'],
    reason: 'An MCP request for an unknown server gets a JSON-RPC error −32601 with the id of the request.',
  },
  {
    cases: ['mcp: cancelled call'],
    reason: 'A cancelled MCP tool call is answered once, with an error that says that it was cancelled.',
  },
  {
    cases: ['mcp result: structuredContent and _meta', 'mcp result: resource link'],
    reason: 'The fields of a result keep the order in which the handler returned them.',
  },
  {
    cases: ['mcp result: extra members', /^mcp result: (undefined|a text|no content)$/],
    reason: 'A handler may return plain values, which are wrapped into a result.',
  },
  {
    cases: ['mcp result: unknown block'],
    reason: 'A malformed result becomes an error result that the model can read.',
  },
  {
    cases: ['mcp result: keys of extra', 'mcp result: meta of extra'],
    reason: "The second argument of a handler is Toolplane's `ToolContext`; its `_meta` is always an object.",
  },
];

/** The exception for a case, or undefined if the case must be equal. */
export function exceptionFor(name: string): WireException | undefined {
  return EXCEPTIONS.find((it) => it.cases.some((which) => matches(which, name)));
}

/** Entries of the table that match no case. */
export function unusedExceptions(names: readonly string[]): (string | RegExp)[] {
  const all = EXCEPTIONS.flatMap((it) => it.cases);
  return all.filter((which) => !names.some((name) => matches(which, name)));
}

function matches(which: string | RegExp, name: string): boolean {
  return typeof which === 'string' ? which === name : which.test(name);
}
