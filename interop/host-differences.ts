/** Known differences between the Toolplane host and the official CLI. An entry without effect fails the comparison. */
export type HostDifference = {
  /** The programs in which the difference appears. */
  readonly programs: readonly string[];
  readonly why: string;
  /** Returns the observation with the difference removed. */
  readonly without: (observation: unknown) => unknown;
};

const INTERRUPTED = [
  'interrupt-permission-request',
  'interrupt-slow-tool',
  'permission-denied-with-interrupt',
];
const HOOKED = ['hook-changes-output', 'hook-denies'];

/** What the model gets before a command that the user ran in the agent. */
export const CAVEAT = /^<local-command-caveat>[\s\S]*<\/local-command-caveat>$/;

export const HOST_DIFFERENCES: readonly HostDifference[] = [
  {
    programs: HOOKED,
    why: 'transcripts are stored under `TOOLPLANE_HOME`',
    without: withText(/<root>\/home\/\.(?:toolplane|claude)\/projects\/\S*?\.jsonl/g, '<transcript>'),
  },
  {
    programs: [
      'mcp-server-v1',
      'mcp-server-v2',
      'schema-defaults',
      'server-instance',
      'server-key-and-odd-names',
      'tool-called',
    ],
    why: 'tool schemas are sent without `$schema`',
    without: withoutMember('$schema'),
  },
  {
    programs: ['schedule-tools'],
    why: 'scheduled jobs of a session come back when the session is resumed, and the result says so',
    without: withText(
      /\((?:not written to disk, dies when Claude exits|runs only in this session, also after it is resumed)\)/,
      '(of this session)',
    ),
  },
  {
    programs: ['thinking'],
    why: 'the `display` of thinking is sent only if the program sets it; the CLI sends `updates`, which is not part of the public API',
    without: (it) =>
      JSON.parse(
        JSON.stringify(it, (key, value) => (key === 'display' && value === 'updates' ? undefined : value)),
      ),
  },
  {
    programs: ['agent-messages'],
    why: '`ListAgents` also lists sub-agents that have ended in the foreground, because messages make them continue',
    without: withoutMember('listedAfterForeground'),
  },
  {
    programs: ['web-search'],
    why: 'the note after the hits of a web search differs: it also says that they are data from outside',
    without: withText(/(?:REMINDER: You MUST|Name the sources)[\s\S]*$/, '<note>'),
  },
  {
    programs: ['structured-result'],
    why: 'if a result has structured content and different text content, both are sent',
    without: (it) => mapped(it, (value) => (isPair(value) ? value[1].text : value)),
  },
  {
    programs: ['image-result'],
    why: 'images are stored beside the transcript',
    without: withText(/\[Image: source: [^\]]*\]/g, '[Image: source: <file>]'),
  },
  {
    programs: ['hook-changes-output'],
    why: '`additionalContext` of a hook is sent next to the tool result, not as a system reminder',
    without: (it) => withoutItem(/It is old\./)(withoutMember('systemTexts')(it)),
  },
  {
    programs: ['structured-output'],
    why: 'the text that reminds the model of the structured output differs',
    without: withText(/^.*the StructuredOutput tool.*$/, '<reminder>'),
  },
  {
    programs: ['hook-stops'],
    why: 'a `PreToolUse` hook with `continue: false` prevents the call; the CLI makes the call and ends the turn after it',
    without: withoutMember('hasRun'),
  },
  {
    programs: ['permission-callback'],
    why: '`canUseTool` always receives a `decisionReason`',
    without: withoutMember('decisionReason'),
  },
  {
    programs: ['permission-callback'],
    why: "Toolplane's agent does not send `serverPolicyAskOnly` to `canUseTool`; the official types do not contain it",
    without: withoutMember('serverPolicyAskOnly'),
  },
  {
    programs: ['permission-callback'],
    why: 'if `canUseTool` denies a call without a `message`, the model receives "The call was denied without a message"; the CLI reports an invalid permission result',
    without: withText(
      /The canUseTool callback returned an invalid permission result[\s\S]*$|The call was denied without a message/,
      '<no message>',
    ),
  },
  {
    programs: INTERRUPTED,
    why: 'the text of an interrupted tool call differs',
    without: withText(
      /^(?:The call was interrupted|The user doesn't want to proceed)[\s\S]*$/,
      '<interrupted>',
    ),
  },
  {
    programs: ['built-in-results'],
    why: 'the explanatory sentences in the results of file tools differ',
    without: withText(
      / \(file state is current[^)]*\)$|^<system-reminder>Warning: the file exists[\s\S]*$|^\S+ is empty \(0 bytes\)$/,
      '',
    ),
  },
  {
    programs: [...INTERRUPTED, 'interrupt-and-set-model'],
    why: 'the result of an interrupted turn says that it was interrupted; the CLI adds internal diagnostics',
    without: withText(/\[ede_diagnostic\][\s\S]*$|The turn was interrupted/, '<interrupted>'),
  },
  {
    programs: ['clear-conversation', 'interrupt-and-set-model', 'slash-commands'],
    why: 'the note that tells the model not to treat a slash command or `setModel()` as a request of the user has a different text',
    without: withText(CAVEAT, '<caveat>'),
  },
  {
    programs: ['api-errors'],
    why: 'some API errors also name the endpoint and the remedy; their texts begin with the same words',
    without: withText(
      /(Invalid API key|issue with the selected model \(\S+\)|Request too large|Prompt is too long|Credit balance is too low|API Error: 5\d\d [\w ]*\w)[\s\S]*$/,
      '$1 …',
    ),
  },
  {
    programs: ['api-errors'],
    why: 'the error for a model API that cannot be reached contains its URL',
    without: withText(/(?:Connection refused|Cannot reach)[\s\S]*ECONNREFUSED[\s\S]*$/, '<ECONNREFUSED>'),
  },
  {
    programs: ['replies-cut-off', 'stop-reasons'],
    why: 'the texts that ask the model to continue a reply that broke off, reached a limit, was empty or was refused differ',
    without: withText(
      /^(?:Your response above was|The connection broke|Output token limit hit|Your reply |\[Your previous response|A safety classifier)[\s\S]*$/,
      '<continue>',
    ),
  },
  {
    programs: ['stop-reasons'],
    why: 'the message about a refused reply names the model by its full name',
    without: withText(/^.*safeguards.* stopped the response above.*$/, '<refused>'),
  },
  {
    programs: ['replies-cut-off'],
    why: '`api_retry` messages about an endpoint that cannot be reached also have `endpoint` and `reason`',
    without: (it) => withoutMember('endpoint')(withoutMember('reason')(it)),
  },
  {
    programs: ['replay-user-messages'],
    why: '`queued_turn_count` of a message that starts no turn counts the messages behind it',
    without: withoutMember('queued_turn_count'),
  },
  {
    programs: ['resume-unknown'],
    why: 'the error for a value of `resume` that is neither a session id nor a title also names the option and the directory',
    without: withText(
      /(?:Error: )?(?:--|options\.)resume requires a valid session ID or session title[\s\S]*$/,
      '<no session>',
    ),
  },
  {
    programs: ['settings-files', 'settings-of-project'],
    why: 'the text of a denied tool call names the rule that denies it, or one that would allow it',
    without: withText(/^(?:deny rule|Permission (?:to use|required)|touch in )[\s\S]*$/, '<denied>'),
  },
  {
    programs: ['settings-files'],
    why: 'the reason of a shell hook is its stderr, without the command',
    without: withText(/(?<=hook error: )\[[\s\S]*\]: |\n$/g, ''),
  },
  {
    programs: ['slash-commands'],
    why: 'the error for a skill that only the model may use says "by the model"; the CLI names its model there',
    without: withText(/This skill can only be invoked by [^<]*/, '<only for the model>'),
  },
  {
    programs: ['settings-of-project'],
    why: 'hooks and variables in the settings of a project take effect after approval; deny rules take effect immediately',
    without: withoutMember('ranUnapproved'),
  },
];

/** The observation without the known differences of the program. */
export function withoutKnown(
  observation: unknown,
  program: string,
  known: readonly HostDifference[] = HOST_DIFFERENCES,
): unknown {
  return known
    .filter(({ programs }) => programs.includes(program))
    .reduce((left, { without }) => without(left), observation);
}

/** Removes every field of that name. */
export function withoutMember(name: string): (value: unknown) => unknown {
  return (value) =>
    mapped(value, (it) =>
      isObject(it) ? Object.fromEntries(Object.entries(it).filter(([key]) => key !== name)) : it,
    );
}

/** Replaces every matching text. */
export function withText(pattern: RegExp, by: string): (value: unknown) => unknown {
  return (value) => mapped(value, (it) => (typeof it === 'string' ? it.replace(pattern, by) : it));
}

/** Removes list items whose text matches: strings, user messages with a text, and messages with a single block. */
export function withoutItem(pattern: RegExp): (value: unknown) => unknown {
  const says = (item: unknown): boolean => {
    if (typeof item === 'string') return pattern.test(item);
    if (!isObject(item)) return false;
    const isUser = item.type === 'user' || item.role === 'user';
    if (isUser && typeof item.content === 'string') return pattern.test(item.content);
    if (!Array.isArray(item.content)) return false;
    return (
      item.content.length === 1 && isObject(item.content[0]) && pattern.test(String(item.content[0].text))
    );
  };
  return (value) => mapped(value, (it) => (Array.isArray(it) ? it.filter((item) => !says(item)) : it));
}

/** The value with `change` made to it and everything in it, from the outside in. */
function mapped(value: unknown, change: (value: unknown) => unknown): unknown {
  const changed = change(value);
  if (Array.isArray(changed)) return changed.map((item) => mapped(item, change));
  if (!isObject(changed)) return changed;
  return Object.fromEntries(Object.entries(changed).map(([key, item]) => [key, mapped(item, change)]));
}

/** The text that the CLI leaves out, and the structure. */
function isPair(value: unknown): value is [unknown, { text: string }] {
  const [first, second] = Array.isArray(value) && value.length === 2 ? value : [];
  return isObject(first) && first.text === 'two rows' && isObject(second);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
