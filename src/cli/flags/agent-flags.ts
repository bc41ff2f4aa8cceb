import { type Command, InvalidArgumentError, Option } from 'commander';
import { isRecord } from '../../base/json-value.ts';
import { formatDiagnostic } from '../../config/files/diagnostics.ts';
import { readFlagNow } from '../../config/sources/read-flags.ts';
import { contentFaults, readServers } from '../../config/sources/read-servers.ts';
import { parseToolSearch, TOOL_SEARCH_VALUES } from '../../pool/disclosure.ts';
import { PERMISSION_MODES } from '../../protocol/permission.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { toolRules } from '../../sdk/options/option-table.ts';
import type { AgentDefinition, Options } from '../../sdk/options/options.ts';
import { sanitize } from '../terminal/text.ts';
import { collect, settingSources } from './flag-values.ts';
import { parseJsonFlag } from './json-flag.ts';

/** One flag of the commands that start an agent, and the option of the SDK it stands for. */
type FlagRow = {
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly parse?: (value: string, before: unknown) => unknown;
  /** Takes what `parse` gave, or the text. */
  readonly option: (value: never) => Options;
};

const ROWS: readonly FlagRow[] = [
  {
    flags: '-m, --model <name>',
    description: 'the model, such as opus, openai:<name> or rehearsal (an offline stand-in)',
    option: (model: string) => ({ model }),
  },
  {
    flags: '--fallback-model <name>',
    description: 'the model to use when the first one is overloaded',
    option: (fallbackModel: string) => ({ fallbackModel }),
  },
  {
    flags: '--mcp-config <file>',
    description: 'a file with "mcpServers", or its JSON text; may be repeated',
    parse: collect,
    option: (given: string[]) => ({ mcpServers: parseMcpConfigs(given) }),
  },
  {
    flags: '--strict-mcp-config',
    description: 'use only servers from --mcp-config',
    option: (strictMcpConfig: boolean) => ({ strictMcpConfig }),
  },
  {
    flags: '--permission-mode <mode>',
    description: 'which calls run without approval (auto equals default with Toolplane’s agent)',
    choices: PERMISSION_MODES,
    option: (permissionMode) => ({ permissionMode }),
  },
  {
    flags: '--allow-dangerously-skip-permissions',
    description: 'permit the mode bypassPermissions',
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
    description: 'rules for calls that are denied; may be repeated',
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
    description: 'resume this conversation',
    option: (resume: string) => ({ resume }),
  },
  {
    flags: '--fork-session',
    description: 'with --resume or --continue: continue in a copy',
    option: (forkSession: boolean) => ({ forkSession }),
  },
  {
    flags: '--no-session-persistence',
    description: 'do not store the conversation',
    // A flag that begins with no- is true unless it is given.
    option: (isKept: boolean) => (isKept ? {} : { persistSession: false }),
  },
  {
    flags: '--agents <file>',
    description: 'sub-agents by name, each with "description" and "prompt": a JSON file, or its JSON text',
    option: (given: string) => ({ agents: parseAgents(given) }),
  },
  {
    flags: '--lead-only',
    description: 'reserve the session’s servers for the main agent (Toolplane’s agent only)',
    option: () => ({ extraArgs: { 'lead-only': null } }),
  },
  {
    flags: '--tool-search <when>',
    description: `when tools are deferred to tool search: ${TOOL_SEARCH_VALUES} (Toolplane’s agent only)`,
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
    flags: '--max-retries <n>',
    description:
      'how often a failed model request is repeated, 0 or more; by default 10, or 5 without a response (Toolplane’s agent only)',
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
    description: 'a settings file, or its JSON text',
    option: (settings: string) => ({ settings }),
  },
  {
    flags: '--setting-sources <scopes>',
    description: 'which settings files are read: user,project,local; default all',
    parse: settingSources,
    option: (sources: NonNullable<Options['settingSources']>) => ({ settingSources: sources }),
  },
  {
    flags: '--plugin-dir <directory>',
    description: 'a plugin directory with an .mcp.json; may be repeated',
    parse: collect,
    option: (directories: string[]) => ({
      plugins: directories.map((path) => ({ type: 'local', path })),
    }),
  },
  {
    flags: '--agent-executable <path>',
    description: 'start this agent CLI instead of Toolplane’s agent',
    option: (pathToClaudeCodeExecutable: string) => ({ pathToClaudeCodeExecutable }),
  },
  {
    flags: '--debug',
    description: 'print every control frame to stderr',
    option: (debug: boolean) => ({ debug }),
  },
];

/** What commander read, by the flags' names. */
export type FlagValues = Readonly<Record<string, unknown>>;

/** Gives a command the flags of an agent. */
export function addAgentFlags(command: Command): Command {
  for (const { flags, description: does, choices, parse } of ROWS) {
    const option = new Option(flags, does);
    if (choices) option.choices(choices);
    if (parse) option.argParser(parse);
    command.addOption(option);
  }
  return command
    .option('--system-prompt <text>', 'replace the system prompt')
    .option('--append-system-prompt <text>', 'append to the system prompt');
}

/** The options that the flags of this command stand for. A value that cannot be used is told, and ends the command with 2. */
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

/** What only our own agent understands: it says more to people than programs for another agent expect. */
const OWN_FLAGS = { 'tool-marks': null, 'report-decisions': null };

/** Without a word about it the agent's own prompt is in force. */
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
  if (!/^[1-9]\d*$/.test(value)) throw new InvalidArgumentError('It takes a whole number, 1 or more.');
  return Number(value);
}

function retries(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('It takes a whole number, 0 or more.');
  return Number(value);
}

function searchWhen(value: string): string {
  if (!parseToolSearch(value)) throw new InvalidArgumentError(`It takes ${TOOL_SEARCH_VALUES}.`);
  return value;
}

/** The sub-agents of `--agents`: the path of a file, or a JSON text. An agent leaves out what it cannot read, so that is told here. */
export function parseAgents(given: string): Record<string, AgentDefinition> {
  const { value, where } = parseJsonFlag('--agents', given, 'bad-option');
  if (!isRecord(value)) throw new SdkError('bad-option', `${where}: it must be an object of agents by name`);
  for (const [name, agent] of Object.entries(value)) {
    const missing = NEEDED.find((key) => !isRecord(agent) || typeof agent[key] !== 'string');
    if (missing) throw new SdkError('bad-option', `${where}: agent "${name}" needs "${missing}", a string`);
  }
  return value as Record<string, AgentDefinition>;
}

const NEEDED = ['description', 'prompt'] as const;

/** The rules of a flag as they are; one that is not whole throws, and is named. */
function parseRules(flag: string, rules: string[]): string[] {
  const broken = rules.find((rule) => !toolRules.holds([rule]));
  if (broken === undefined) return rules;
  throw new SdkError('bad-option', `${flag} '${broken}' is no rule: write Tool or Tool(pattern)`);
}

type Servers = NonNullable<Options['mcpServers']>;

/**
 * The servers of all `--mcp-config`: paths of files, or JSON texts. Of two with one name the later wins. An entry that
 * cannot be used is told and left out; of what cannot be read at all nothing is taken.
 */
export function parseMcpConfigs(
  given: readonly string[],
  report: (line: string) => void = reportOnStderr,
): Servers {
  const servers = given.flatMap((it) => parseMcpConfig(it, report));
  return Object.fromEntries(servers) as Servers;
}

function parseMcpConfig(given: string, report: (line: string) => void): (readonly [string, object])[] {
  const { label, content } = readFlagNow('--mcp-config', given, process.cwd());
  const place = { scope: 'program', label } as const;
  const { state, servers, faults } = readServers(content, { ...place, kind: 'given' });
  if (state !== 'read') throw new SdkError('bad-server', faults.map(formatDiagnostic).join('; '));
  // What is odd about an entry that is taken, whoever takes it says.
  const lost = faults.filter(({ level }) => level === 'error');
  for (const fault of [...contentFaults(content, place), ...lost]) report(formatDiagnostic(fault));
  return servers.flatMap(({ name, entry }) => (entry ? [[name, entry] as const] : []));
}

function reportOnStderr(line: string): void {
  process.stderr.write(`toolplane: ${sanitize(line)}\n`);
}
