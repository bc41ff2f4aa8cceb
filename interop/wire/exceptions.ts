/** Cases in which we mean to send something else than the official SDK, and why (R81). */
export interface WireException {
  /** The names of the cases, or what they have in common. */
  readonly cases: readonly (string | RegExp)[];
  readonly reason: string;
}

/** A case that has become the same fails the test too: what is listed here is different, what is not is equal byte for byte. */
export const EXCEPTIONS: readonly WireException[] = [
  {
    cases: [
      /^argv: (maxTurns|maxBudgetUsd) negative$/,
      /^argv: (effort|permissionMode|settingSources|thinking|outputFormat) unknown$/,
      'argv: extraArgs undefined value',
      'argv: maxTurns zero',
      'argv: unknown option',
    ],
    reason: 'A bad or unknown option is one error that names it, before anything is started.',
  },
  {
    cases: ['argv: mcpServers with a bad entry', 'argv: sdk entry without instance'],
    reason: 'A server entry that cannot work is an error that names its key, before anything is started.',
  },
  {
    cases: [/^session: sessionStore( eager| with what stands around it| resume unknown| resume)?$/],
    reason: 'sessionStore is refused by name.',
  },
  {
    cases: ['session: loadTimeoutMs alone', 'session: sessionStoreFlush alone'],
    reason: 'Options that only sessionStore reads are refused by name.',
  },
  {
    cases: ['tool: date', 'tool: bigint'],
    reason:
      'A schema that gives no JSON Schema is an error where the tool is defined; it is not left out of the list.',
  },
  {
    cases: [/^session: startup/],
    reason: 'We read no startup marks, so the variable that asks for them is not set.',
  },
  {
    cases: [
      'initialize: refused',
      'input: streamed, initialize never answered',
      'input: initialize unanswered until the user line',
      'method: initializationResult when initialize was refused',
    ],
    reason: 'The first prompt waits for the answer to initialize, and is not sent if that fails.',
  },
  {
    cases: ['mcp: full handshake before the initialize reply, manifests off'],
    reason: 'The prompt waits for the answer to initialize, and an acknowledged notification carries no id.',
  },
  {
    cases: ['hook: throw'],
    reason: 'A PreToolUse hook that fails denies the call, where agents would go on.',
  },
  {
    cases: ['input: a stream that fails'],
    reason: 'An input that breaks at once ends the agent before it has begun.',
  },
  {
    cases: [
      'input: one streamed message, a request before the result',
      'input: two streamed messages, a request after the first result',
      /^input: streamed with (a stdio server|empty hooks|permissionPromptToolName), a request before the result$/,
      'input: two streamed messages with an sdk server, a request after the first result',
    ],
    reason:
      'After the last streamed message the input stays open until every result is in, so every request is answered.',
  },
  {
    cases: [
      'initialize: sdk server without tools',
      'initialize: sdk server with no tools list',
      'initialize: sdk server timeout',
      'mcp: tools/list of a server without tools',
      'mcp: tools/list of a server with an empty list',
    ],
    reason: 'A server without tools offers the tools capability and an empty list, since tools can be added.',
  },
  {
    cases: [
      /^canUseTool: return (undefined|nonsense|an unknown behavior|a text)$/,
      'canUseTool: deny without a message',
      'canUseTool: allow with a wrong updatedInput',
    ],
    reason: 'An answer of canUseTool that is no decision denies the call.',
  },
  {
    cases: ['canUseTool: cancelled by the CLI, then answered', 'hook: cancelled by the CLI'],
    reason: 'A request that the agent took back gets no reply.',
  },
  {
    cases: ['hook: return null'],
    reason: 'null is no output of a hook: the reply carries none.',
  },
  {
    cases: ['elicitation: return undefined', 'dialog: return undefined'],
    reason: 'A question without an answer is declined, a dialog without one is cancelled.',
  },
  {
    cases: ['dialog: no callback'],
    reason: 'A dialog that nobody can show is cancelled: every request gets one reply.',
  },
  {
    cases: ['request: no subtype'],
    reason: 'A request without a subtype is refused as malformed.',
  },
  {
    cases: ['mcp: initialize without params'],
    reason: 'A handshake without params is answered: nothing in them is needed.',
  },
  {
    cases: [/^mcp: (notifications\/initialized|unknown notification|a response nobody asked for)$/],
    reason: 'The acknowledgement of a notification carries no id: it answers no request (JSON-RPC).',
  },
  {
    cases: ['mcp: tools/call no arguments', 'mcp: tools/call empty tool without arguments'],
    reason: 'A call without arguments is a call with none.',
  },
  {
    cases: [
      /^mcp: tools\/call (unknown tool|without name)$/,
      /^mcp: (resources\/list|prompts\/list|logging\/setLevel|unknown method|server\/discover)$/,
    ],
    reason: 'The text of an error names the tool or the method.',
  },
  {
    cases: ['mcp: unknown server'],
    reason: 'An unknown server is a JSON-RPC error −32601 with the id of the request.',
  },
  {
    cases: ['mcp: cancelled call'],
    reason: 'A cancelled call is answered once, with an error that says so.',
  },
  {
    cases: ['mcp result: structuredContent and _meta', 'mcp result: resource link'],
    reason: 'The members of a result stay in the order the handler gave.',
  },
  {
    cases: ['mcp result: extra members', /^mcp result: (undefined|a text|no content)$/],
    reason: 'A handler may return plain values.',
  },
  {
    cases: ['mcp result: unknown block'],
    reason: 'A malformed result is a failed result that the model can read.',
  },
  {
    cases: ['mcp result: keys of extra', 'mcp result: meta of extra'],
    reason: 'The context of a handler is our own; its _meta is always an object.',
  },
];

/** Why we send something else in this case; nothing for a case in which we must not. */
export function exceptionFor(name: string): WireException | undefined {
  return EXCEPTIONS.find((it) => it.cases.some((which) => matches(which, name)));
}

/** The entries of the table that mean no case. */
export function unusedExceptions(names: readonly string[]): (string | RegExp)[] {
  const all = EXCEPTIONS.flatMap((it) => it.cases);
  return all.filter((which) => !names.some((name) => matches(which, name)));
}

function matches(which: string | RegExp, name: string): boolean {
  return typeof which === 'string' ? which === name : which.test(name);
}
