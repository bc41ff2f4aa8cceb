/** Where our host says something else than the real CLI, and why. One that makes no difference fails the comparison. */
export type HostDifference = {
  /** Only in these programs. */
  readonly programs: readonly string[];
  readonly why: string;
  /** The observation without it. */
  readonly without: (observation: unknown) => unknown;
};

const INTERRUPTED = ['interrupt-slow-tool', 'permission-denied-with-interrupt'];
const HOOKED = ['hook-changes-output', 'hook-denies'];

export const HOST_DIFFERENCES: readonly HostDifference[] = [
  {
    programs: HOOKED,
    why: 'models here have no effort to tell hooks of',
    without: withoutMember('effort'),
  },
  {
    programs: HOOKED,
    why: 'conversations are kept in a place of our own',
    without: withText(/<root>\/home\/\.(?:toolplane|claude)\/projects\/\S*?\.jsonl/g, '<transcript>'),
  },
  {
    programs: [
      'mcp-server-v1',
      'mcp-server-v2',
      'schema-defaults',
      'server-key-and-odd-names',
      'tool-called',
    ],
    why: 'schemas are told in one dialect, so that none has to be named',
    without: withoutMember('$schema'),
  },
  {
    programs: ['structured-result'],
    why: 'a text beside structured content is told too, unless it says the same',
    without: (it) => mapped(it, (value) => (isPair(value) ? value[1].text : value)),
  },
  {
    programs: ['image-result'],
    why: 'pictures are kept in a place of our own',
    without: withText(/\[Image: source: [^\]]*\]/g, '[Image: source: <file>]'),
  },
  {
    programs: ['hook-changes-output'],
    why: 'what a hook adds stands beside the result it is about, not in a reminder of the system role',
    without: (it) => withoutItem(/It is old\./)(withoutMember('systemTexts')(it)),
  },
  {
    programs: ['permission-callback'],
    why: 'the reason of a question is always told',
    without: withoutMember('decisionReason'),
  },
  {
    programs: ['permission-callback'],
    why: 'a member that the official types do not have',
    without: withoutMember('serverPolicyAskOnly'),
  },
  {
    programs: ['two-tools-at-once', 'max-turns', ...INTERRUPTED],
    why: 'turns are the replies of the model; the CLI counts messages',
    without: withoutMember('num_turns'),
  },
  {
    programs: INTERRUPTED,
    why: 'a call that was interrupted is told in words of our own, once',
    without: (it) =>
      withoutItem(/\[Request interrupted by user for tool use\]/)(
        withText(
          /^(?:The call was interrupted|The user doesn't want to proceed)[\s\S]*$/,
          '<interrupted>',
        )(withoutMember('tool_use_result')(it)),
      ),
  },
  {
    programs: INTERRUPTED,
    why: 'the result of an interrupted turn says so, and not what the CLI notes for its makers',
    without: withText(/\[ede_diagnostic\][\s\S]*$|The turn was interrupted/, '<interrupted>'),
  },
  {
    programs: ['model-refuses'],
    why: 'a model that refuses is a failed turn, not a successful one whose text is a fault',
    without: withoutMember('seen'),
  },
];

/** The observation without what is known to differ in this program. */
export function withoutKnown(
  observation: unknown,
  program: string,
  known: readonly HostDifference[] = HOST_DIFFERENCES,
): unknown {
  return known
    .filter(({ programs }) => programs.includes(program))
    .reduce((left, { without }) => without(left), observation);
}

/** Without every member of that name. */
function withoutMember(name: string): (value: unknown) => unknown {
  return (value) =>
    mapped(value, (it) =>
      isObject(it) ? Object.fromEntries(Object.entries(it).filter(([key]) => key !== name)) : it,
    );
}

/** With every such text replaced. */
function withText(pattern: RegExp, by: string): (value: unknown) => unknown {
  return (value) => mapped(value, (it) => (typeof it === 'string' ? it.replace(pattern, by) : it));
}

/** Without the items of lists that say this, texts and messages of one block. */
function withoutItem(pattern: RegExp): (value: unknown) => unknown {
  const says = (item: unknown): boolean => {
    if (typeof item === 'string') return pattern.test(item);
    if (!isObject(item) || !Array.isArray(item.content)) return false;
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
