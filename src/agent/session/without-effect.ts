import { isRecord } from '../../base/is-record.ts';
import type { Frame } from '../../protocol/control-frame.ts';

/** What of `initialize` and of its agents changes nothing here, in words; nothing is passed over in silence. */
export function withoutEffect(body: Frame): string[] {
  const agents = Object.entries(isRecord(body.agents) ? body.agents : {});
  return [
    ...given(body, MEMBERS).map((name) => `options.${name} has no effect with this agent`),
    ...agents.flatMap(([agent, definition]) =>
      given(isRecord(definition) ? definition : {}, AGENT_MEMBERS).map(
        (name) => `options.agents["${agent}"].${name} has no effect with this agent`,
      ),
    ),
  ];
}

/** Members under the names that options have. */
const MEMBERS: readonly string[] = [
  'agentProgressSummaries',
  'forwardSubagentText',
  'jsonSchema',
  'perTaskStopAffordance',
  'planModeInstructions',
  'plugins',
  'promptSuggestions',
  'skills',
  'supportedDialogKinds',
  'systemPromptSnapshot',
  'title',
  'toolAliases',
];

const AGENT_MEMBERS: readonly string[] = [
  'autoCompactWindow',
  'background',
  'criticalSystemReminder_EXPERIMENTAL',
  'effort',
  'initialPrompt',
  'memory',
  'permissionMode',
  'skills',
];

/** False, empty and absent ask for nothing. */
function given(from: Readonly<Record<string, unknown>>, names: readonly string[]): string[] {
  return names.filter((name) => {
    const value = from[name];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false && value !== null;
  });
}
