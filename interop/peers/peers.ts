import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { CAVEAT, type HostDifference, withText } from '../host-differences.ts';

/** A published package that uses the official one, and what its scenario covers. */
type Peer = {
  readonly package: string;
  readonly covers: string;
  /** Needs the path of an agent, so that Toolplane's agent runs as a process. */
  readonly needsPath?: boolean;
};

/** The published packages by the name of their scenario. */
export const PEERS: Readonly<Record<string, Peer>> = {
  'ai-sdk-provider-claude-code': {
    package: 'ai-sdk-provider-claude-code',
    covers:
      '`generateText` and `streamText` of the AI SDK with an in-process tool, a permission callback, and structured output',
  },
  braintrust: {
    package: 'braintrust',
    covers: '`wrapClaudeAgentSDK()`: spans of the query, the model replies and the tool calls',
  },
  'claude-agent-acp': {
    package: '@agentclientprotocol/claude-agent-acp',
    covers: 'an editor’s session: prompts, permission requests with diffs, cancel, list and load sessions',
    needsPath: true,
  },
  langsmith: {
    package: 'langsmith',
    covers:
      '`wrapClaudeAgentSDK()`: runs of a conversation with two turns, control methods of the wrapped query',
  },
  'mastra-claude': {
    package: '@mastra/claude',
    covers: '`generate()` with a tool, `stream()`, structured output, a resumed session',
  },
  openinference: {
    package: '@arizeai/openinference-instrumentation-claude-agent-sdk',
    covers: '`manuallyInstrument()`: spans of the query and of tool calls, failed ones too',
  },
};

/** The listed differences between Toolplane's agent and the real CLI. An entry without effect fails the comparison. */
const PEER_DIFFERENCES: readonly HostDifference[] = [
  {
    programs: ['claude-agent-acp'],
    why: 'the text of the results of `Write` and of interrupted or denied calls differs',
    without: withText(
      /^File created successfully at: .*|^(?:```\n)?The (?:call was interrupted|user doesn't want to proceed)[\s\S]*/,
      '<text>',
    ),
  },
  {
    programs: ['langsmith'],
    why: 'the note that tells the model not to treat `setModel()` as a request of the user has a different text',
    without: withText(CAVEAT, '<caveat>'),
  },
];

/** The observation without the listed differences of the scenario. */
export function withoutKnownOfPeers(
  observation: unknown,
  scenario: string,
  known: readonly HostDifference[] = PEER_DIFFERENCES,
): unknown {
  return known
    .filter(({ programs }) => programs.includes(scenario))
    .reduce((left, { without }) => without(left), observation);
}

/** The listed differences of the scenario that the observations do not show. */
export function unusedDifferences(expected: unknown, actual: unknown, scenario: string): string[] {
  return PEER_DIFFERENCES.filter((it) => it.programs.includes(scenario))
    .filter((it) => {
      const others = PEER_DIFFERENCES.filter((other) => other !== it);
      const [left, right] = [expected, actual].map((seen) => withoutKnownOfPeers(seen, scenario, others));
      return isDeepStrictEqual(left, right);
    })
    .map(({ why }) => why);
}

const PATH_NOTE =
  'without the CLI of the official package, `CLAUDE_CODE_EXECUTABLE` must be the path of `toolplane-agent`';

/** One row per published package: its name and pinned version, what is compared, and what differs. */
export function worksWithRows(): string[][] {
  const { dependencies } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return Object.entries(PEERS).map(([scenario, { package: name, covers, needsPath }]) => {
    const differences = PEER_DIFFERENCES.filter(({ programs }) => programs.includes(scenario));
    const texts = [...(needsPath ? [PATH_NOTE] : []), ...differences.map(({ why }) => why)];
    return [`\`${name}\` ${dependencies[name]}`, covers, texts.length > 0 ? texts.join('; ') : 'none'];
  });
}
