import { type Command, InvalidArgumentError, Option } from 'commander';
import { isRecord } from '../../base/json-value.ts';
import { formatDiagnostic } from '../../config/files/diagnostics.ts';
import { readFlag } from '../../config/sources/read-flags.ts';
import { documentFaults, readServers } from '../../config/sources/read-servers.ts';
import { parseToolSearch, TOOL_SEARCH_VALUES } from '../../pool/disclosure.ts';
import { LOG_LEVELS } from '../../protocol/mcp.ts';
import { PERMISSION_MODES } from '../../protocol/permission.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { toolRules } from '../../sdk/options/option-table.ts';
import type { AgentDefinition, Options } from '../../sdk/options/options.ts';
import { reportError } from '../output/failure.ts';
import { sanitize } from '../terminal/terminal-text.ts';
import { collect, parseJsonFlag, settingSources } from './flag-values.ts';

/** One flag of the commands that start an agent, and the SDK option that it sets. */
type FlagRow = {
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly parse?: (value: string, before: unknown) => unknown;
  /** Receives the result of `parse`, or the text. */
  readonly option: (value: never) => Options;
};

const ROWS: readonly FlagRow[] = [
  {
    flags: '-m, --model <name>',
    description: 'the model, such as opus, openai:<name> or rehearsal (offline stand-in, needs no key)',
    option: (model: string) => ({ model }),
  },
  {
    flags: '--fallback-model <name>',
    description: 'the model to use when requests to the main model keep failing',
    option: (fallbackModel: string) => ({ fallbackModel }),
  },
  {
    flags: '--mcp-config <file>',
    description: 'servers: a JSON file with "mcpServers", or JSON text; may be repeated',
    parse: collect,
    option: (given: string[]) => ({ mcpServers: parseMcpConfigs(given) }),
  },
  {
    flags: '--strict-mcp-config',
    description: 'use only servers from --mcp-config and managed servers',
    option: (strictMcpConfig: boolean) => ({ strictMcpConfig }),
  },
  {
    flags: '--permission-mode <mode>',
    description: 'which calls run without approval (with the built-in agent, auto is the same as default)',
    choices: PERMISSION_MODES,
    option: (permissionMode) => ({ permissionMode }),
  },
  {
    flags: '--allow-dangerously-skip-permissions',
    description:
      'permit the mode bypassPermissions in settings and as a later change; --permission-mode does not need this flag',
    option: (allowDangerouslySkipPermissions: boolean) => ({ allowDangerouslySkipPermissions }),
  },
  {
    flags: '--allowed-tools, --allowedTools <rules>',
    description: 'rules for calls that run without approval, such as mcp__docs,Read; may be repeated',
    parse: rules,
    option: (allowedTools: string[]) => ({ allowedTools: parseRules('--allowedTools', allowedTools) }),
  },
  {
    flags: '--disallowed-tools, --disallowedTools <rules>',
    description: 'rules for calls that are always denied; may be repeated',
    parse: rules,
    option: (disallowedTools: string[]) => ({
      disallowedTools: parseRules('--disallowedTools', disallowedTools),
    }),
  },
  {
    flags: '--tools <names>',
    description: 'the built-in tools to offer',
    parse: rules,
    option: (tools: string[]) => ({ tools }),
  },
  {
    flags: '-c, --continue',
    description: 'continue the last conversation of this directory',
    option: (on: boolean) => ({ continue: on }),
  },
  {
    flags: '-r, --resume <session>',
    description: 'resume the conversation with this id, title or transcript path',
    option: (resume: string) => ({ resume }),
  },
  {
    flags: '--fork-session',
    description: 'resume into a new session and leave the original unchanged',
    option: (forkSession: boolean) => ({ forkSession }),
  },
  {
    flags: '--no-session-persistence',
    description: 'do not store the conversation; it cannot be resumed',
    // commander: a flag with no- is true unless it is given.
    option: (isKept: boolean) => (isKept ? {} : { persistSession: false }),
  },
  {
    flags: '--agents <file>',
    description: 'sub-agents by name, each with "description" and "prompt": a JSON file or JSON text',
    option: (given: string) => ({ agents: parseAgents(given) }),
  },
  {
    flags: '--agent <name>',
    description:
      'use the prompt, tools and model of this agent, from --agents or an agent file, for the conversation itself',
    option: (agent: string) => ({ agent }),
  },
  {
    flags: '--channels <servers>',
    description:
      'servers that may push messages into the conversation, such as server:chat; may be repeated (built-in agent)',
    parse: collect,
    option: (channels: string[]) => ({ channels }),
  },
  {
    flags: '--server-log-level <level>',
    description: 'report log messages of servers of this level and above (built-in agent)',
    choices: LOG_LEVELS,
    option: (level: string) => ({ extraArgs: { 'server-log-level': level } }),
  },
  {
    flags: '--lead-only',
    description:
      'make the servers available to the main agent only; sub-agents use only their own servers (built-in agent)',
    option: () => ({ extraArgs: { 'lead-only': null } }),
  },
  {
    flags: '--tool-search <when>',
    description: `when tool search replaces the full list of tools: ${TOOL_SEARCH_VALUES} (built-in agent)`,
    parse: searchWhen,
    option: (when: string) => ({ extraArgs: { 'tool-search': when } }),
  },
  {
    flags: '--add-dir <directory>',
    description: 'an additional working directory; may be repeated',
    parse: collect,
    option: (additionalDirectories: string[]) => ({ additionalDirectories }),
  },
  {
    flags: '--max-turns <n>',
    description: 'maximum number of model requests per prompt',
    parse: count,
    option: (maxTurns: number) => ({ maxTurns }),
  },
  {
    flags: '--max-budget-usd <amount>',
    description:
      'maximum cost in US dollars since the conversation was started, resumed or cleared, at list prices',
    parse: amount,
    option: (maxBudgetUsd: number) => ({ maxBudgetUsd }),
  },
  {
    flags: '--max-retries <n>',
    description:
      'maximum number of retries of a failed model request; default 10, or 5 if there is no response (built-in agent)',
    parse: retries,
    option: (given: number) => ({ extraArgs: { 'max-retries': String(given) } }),
  },
  {
    flags: '--max-thinking-tokens <n>',
    description: 'maximum number of thinking tokens',
    parse: count,
    option: (maxThinkingTokens: number) => ({ maxThinkingTokens }),
  },
  {
    flags: '--settings <file>',
    description: 'a settings file or JSON text',
    option: (settings: string) => ({ settings }),
  },
  {
    flags: '--setting-sources <scopes>',
    description: 'which settings files to read: user,project,local; default all',
    parse: settingSources,
    option: (sources: NonNullable<Options['settingSources']>) => ({ settingSources: sources }),
  },
  {
    flags: '--plugin-dir <directory>',
    description: 'a plugin directory (servers, skills, commands, agents, output styles); may be repeated',
    parse: collect,
    option: (directories: string[]) => ({
      plugins: directories.map((path) => ({ type: 'local', path })),
    }),
  },
  {
    flags: '--agent-executable <path>',
    description: 'run this agent CLI instead of the built-in agent',
    option: (pathToClaudeCodeExecutable: string) => ({ pathToClaudeCodeExecutable }),
  },
  {
    flags: '--debug',
    description: 'print every control frame to stderr',
    option: (debug: boolean) => ({ debug }),
  },
];

/** The parsed values of the flags. */
export type FlagValues = Readonly<Record<string, unknown>>;

/** Adds the flags of an agent to a command, except those with these long names. */
export function addAgentFlags(command: Command, except: readonly string[] = []): Command {
  for (const { flags, description: does, choices, parse } of ROWS) {
    const option = new Option(flags, does);
    if (except.includes(option.long ?? '')) continue;
    if (choices) option.choices(choices);
    if (parse) option.argParser(parse);
    command.addOption(option);
  }
  return command
    .option('--system-prompt <text>', 'replace the system prompt of the agent')
    .option('--append-system-prompt <text>', 'append to the system prompt');
}

/** The SDK options from the flags of a command. An invalid value is a usage error. */
export function agentOptions(command: Command): Options {
  try {
    return readOptions(command.opts());
  } catch (cause) {
    if (!(cause instanceof SdkError)) throw cause;
    return command.error(`error: ${sanitize(cause.message)}`, { exitCode: 2 });
  }
}

function readOptions(values: FlagValues): Options {
  const given = ROWS.flatMap(({ flags, option }) => {
    const value = values[new Option(flags).attributeName()];
    return value === undefined ? [] : [option(value as never)];
  });
  const options = Object.assign({}, ...given, { systemPrompt: systemPrompt(values) }) as Options;
  if (options.pathToClaudeCodeExecutable !== undefined) return options;
  const extraArgs = Object.assign({}, OWN_FLAGS, ...given.map((it: Options) => it.extraArgs));
  return { ...options, extraArgs };
}

/** Flags of the built-in agent that make it report more than other agents do. */
const OWN_FLAGS = { 'tool-marks': null, 'report-decisions': null, 'server-log-level': 'warning' };

/** Without these flags the agent's own system prompt is used. */
function systemPrompt({
  systemPrompt: own,
  appendSystemPrompt: append,
}: FlagValues): Options['systemPrompt'] {
  const added = typeof append === 'string' ? append : undefined;
  if (typeof own === 'string') return added === undefined ? own : [own, added];
  return { type: 'preset', preset: 'claude_code', ...(added !== undefined && { append: added }) };
}

/** A comma inside parentheses belongs to its rule. */
function rules(value: string, before: unknown): string[] {
  const items = value.split(/,(?![^(]*\))/).map((item) => item.trim());
  return [...((before as string[] | undefined) ?? []), ...items.filter((item) => item !== '')];
}

function count(value: string): number {
  if (!/^[1-9]\d*$/.test(value)) throw new InvalidArgumentError('Expected an integer, 1 or more.');
  return Number(value);
}

function amount(value: string): number {
  if (!(Number(value) > 0 && Number.isFinite(+value))) {
    throw new InvalidArgumentError('Expected a number greater than 0.');
  }
  return Number(value);
}

function retries(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('Expected an integer, 0 or more.');
  return Number(value);
}

function searchWhen(value: string): string {
  if (!parseToolSearch(value)) throw new InvalidArgumentError(`Expected ${TOOL_SEARCH_VALUES}.`);
  return value;
}

/** Parses `--agents`, a path or JSON text, and refuses invalid definitions, which agents would ignore. */
export function parseAgents(given: string): Record<string, AgentDefinition> {
  const { value, where } = parseJsonFlag('--agents', given, 'bad-option');
  if (!isRecord(value))
    throw new SdkError('bad-option', `${where}: must be an object that maps names to agents`);
  for (const [name, agent] of Object.entries(value)) {
    const missing = NEEDED.find((key) => !isRecord(agent) || typeof agent[key] !== 'string');
    if (missing) throw new SdkError('bad-option', `${where}: agent "${name}": "${missing}" must be a string`);
  }
  return value as Record<string, AgentDefinition>;
}

const NEEDED = ['description', 'prompt'] as const;

/** Validates the rules of a flag; throws an error that names an invalid one. */
function parseRules(flag: string, rules: string[]): string[] {
  const broken = rules.find((rule) => !toolRules.holds([rule]));
  if (broken === undefined) return rules;
  throw new SdkError(
    'bad-option',
    `${flag} '${broken}' is not a valid permission rule; use Tool or Tool(pattern)`,
  );
}

type Servers = NonNullable<Options['mcpServers']>;

/**
 * The servers of all `--mcp-config` flags: paths of files, or JSON texts. The later of two servers with one name wins. An
 * invalid entry is reported and skipped; an unreadable file or text is an error.
 */
export function parseMcpConfigs(
  given: readonly string[],
  report: (line: string) => void = reportError,
): Servers {
  const servers = given.flatMap((it) => parseMcpConfig(it, report));
  return Object.fromEntries(servers) as Servers;
}

function parseMcpConfig(given: string, report: (line: string) => void): (readonly [string, object])[] {
  const { label, document } = readFlag('--mcp-config', given, process.cwd());
  const place = { scope: 'program', label } as const;
  const { state, servers, faults } = readServers(document, { ...place, kind: 'given' });
  if (state !== 'read') throw new SdkError('bad-server', faults.map(formatDiagnostic).join('; '));
  // Warnings about valid entries are reported by the agent.
  const lost = faults.filter(({ level }) => level === 'error');
  for (const fault of [...documentFaults(document, place), ...lost]) report(formatDiagnostic(fault));
  return servers.flatMap(({ name, entry }) => (entry ? [[name, entry] as const] : []));
}
