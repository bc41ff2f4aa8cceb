import { isRecord } from '../../../base/json-value.ts';
import type { ServerEntry } from '../../../mcp/connection/connect-context.ts';
import { readEntry } from '../../../mcp/servers/server-entry.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../../protocol/permission.ts';
import { EFFORT_LEVELS, type EffortLevel } from '../../../protocol/system-message.ts';

/** The definition of a kind of sub-agent. */
export type AgentDefinition = {
  /** Tells the delegating model when to use this kind of agent. */
  readonly description: string;
  /** The system prompt of the agent. */
  readonly prompt: string;
  /** The tools that the agent may use, by model-facing name or `mcp__server`; all by default. */
  readonly tools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly model?: string;
  readonly effort?: EffortLevel;
  readonly maxTurns?: number;
  /** The permission mode of the agent's calls; that of the session by default. */
  readonly permissionMode?: PermissionMode;
  /** Skills whose texts follow the prompt of the agent's first message. */
  readonly skills?: readonly string[];
  /** Whether the agent works in a git worktree of its own. */
  readonly isolation?: 'worktree';
  /** Whether the agent always runs in the background. */
  readonly background?: boolean;
  /**
   * Names of the session's servers that the agent may use, and server entries of its own; by default all servers of the
   * session.
   */
  readonly mcpServers?: readonly (string | Readonly<Record<string, ServerEntry>>)[];
};

/** Members of a definition that the official package knows and that have no effect here. */
export const UNSUPPORTED_MEMBERS: readonly string[] = [
  'autoCompactWindow',
  'criticalSystemReminder_EXPERIMENTAL',
  'initialPrompt',
  'memory',
  'observer',
  'observerMessage',
  'omitClaudeMd',
];

const REPORTING =
  'You work on one task for another agent. Do it completely, then report what you found or did in a few sentences: your last message is all the other agent sees.';

const READING =
  'You only read: change no files, and run no commands that change anything. Look in several places at once where you can.';

/** The tools that read-only agents do not get: those that change files, start agents or end plan mode. */
const CHANGING_TOOLS: readonly string[] = ['Agent', 'Edit', 'ExitPlanMode', 'NotebookEdit', 'Write'];

/** The built-in kinds. */
export const BUILT_IN_AGENTS: Readonly<Record<string, AgentDefinition>> = {
  claude: { description: 'Works on any task that fits no other kind.', prompt: REPORTING },
  Explore: {
    description:
      'Finds files, symbols and passages of text quickly, without changing anything. Say how thorough the search should be.',
    prompt: `${REPORTING} ${READING} Report paths and line numbers.`,
    disallowedTools: CHANGING_TOOLS,
  },
  'general-purpose': {
    description: 'Works on a task of several steps by itself and reports what it found or did.',
    prompt: REPORTING,
  },
  Plan: {
    description: 'Reads the existing code and designs an implementation: steps, files to change, risks.',
    prompt: `${REPORTING} ${READING} End with the steps of a plan in order, and with the files that matter.`,
    disallowedTools: CHANGING_TOOLS,
  },
};

/** Parses `agents` of `initialize` or of `--agents`; invalid entries are dropped. */
export function parseAgents(value: unknown): Record<string, AgentDefinition> {
  const agents: [string, AgentDefinition][] = [];
  for (const [name, given] of Object.entries(isRecord(value) ? value : {})) {
    // `__proto__` would set the prototype of the record.
    if (name === '__proto__' || !isRecord(given) || typeof given.prompt !== 'string') continue;
    const { description, prompt, model, effort: level, maxTurns, mcpServers, permissionMode: mode } = given;
    const effort = EFFORT_LEVELS.find((it) => it === level);
    const tools = strings(given.tools);
    const disallowedTools = strings(given.disallowedTools);
    const skills = strings(given.skills);
    const agent: AgentDefinition = {
      description: typeof description === 'string' ? description : name,
      prompt,
      ...(tools && { tools }),
      ...(disallowedTools && { disallowedTools }),
      ...(typeof model === 'string' && model !== 'inherit' && { model }),
      ...(effort && { effort }),
      ...(typeof maxTurns === 'number' && { maxTurns }),
      ...(isMode(mode) && { permissionMode: mode }),
      ...(skills && { skills }),
      ...(given.isolation === 'worktree' && { isolation: 'worktree' }),
      ...(given.background === true && { background: true }),
      ...(Array.isArray(mcpServers) && { mcpServers: mcpServers.flatMap(parseServers) }),
    };
    agents.push([name, agent]);
  }
  return Object.fromEntries(agents);
}

/**
 * Parses the name of a server of the session, or server entries. An in-process entry refers to a server of the session;
 * invalid entries are dropped.
 */
function parseServers(value: unknown): (string | Record<string, ServerEntry>)[] {
  if (typeof value === 'string') return [value];
  return Object.entries(isRecord(value) ? value : {}).flatMap<string | Record<string, ServerEntry>>(
    ([key, given]) => {
      if (isRecord(given) && given.type === 'sdk') return [key];
      try {
        return [{ [key]: readEntry(key, given) }];
      } catch {
        return [];
      }
    },
  );
}

function isMode(value: unknown): value is PermissionMode {
  return (PERMISSION_MODES as readonly unknown[]).includes(value);
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((it) => typeof it === 'string') : undefined;
}
