/**
 * One option that an agent is started with, under the name of its flag. An agent in this process takes the value as it
 * is; the process link writes it as command-line text.
 */
export type LaunchFlag = {
  /** Without dashes. */
  readonly name: string;
  /** `true` for a flag without a value. */
  readonly value: true | string | number | readonly string[] | Readonly<Record<string, unknown>>;
  /** The value is text as a person writes it on a command line, to be parsed by the agent: from `extraArgs`. */
  readonly isText?: boolean;
};

/** The command line of an agent process, in the official SDK's form. */
export function launchArgv(flags: readonly LaunchFlag[]): string[] {
  return [
    ...['--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'],
    ...flags.flatMap(flagArgv),
  ];
}

/** Flags that the official SDK writes as two arguments. */
const APART: ReadonlySet<string> = new Set(['mcp-config', 'managed-settings']);

/** A value that begins with a dash is joined to its flag, so that it cannot be taken for a flag. */
export function flagArgv({ name, value, isText }: LaunchFlag): string[] {
  if (value === true) return [`--${name}`];
  const text = valueText(value);
  const isApart = (isText === true || APART.has(name)) && !text.startsWith('-');
  return isApart ? [`--${name}`, text] : [`--${name}=${text}`];
}

function valueText(value: Exclude<LaunchFlag['value'], true>): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Formats the name of a flag, given without dashes, for messages: as the flag or option that the user wrote. */
export type FlagNames = (flag: string) => string;

/** The name on a command line. */
export const flagName: FlagNames = (flag) => `--${flag}`;

/** The name of the option that becomes the flag. */
export const optionName: FlagNames = (flag) => `options.${OPTIONS[flag] ?? camelCase(flag)}`;

/** Options whose names are not those of their flags. */
const OPTIONS: Readonly<Record<string, string>> = {
  'add-dir': 'additionalDirectories',
  'json-schema': 'outputFormat',
  'mcp-config': 'mcpServers',
  'no-session-persistence': 'persistSession',
  'permission-prompt-tool': 'permissionPromptToolName',
  'plugin-dir': 'plugins',
  'plugin-dir-no-mcp': 'plugins',
  'await-initialize': 'pluginDelivery',
  'thinking-display': 'thinking',
};

function camelCase(flag: string): string {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * An item in a list of system prompt blocks that is not sent to the model: the `claude` CLI may cache the blocks before
 * it across sessions, but not those after it.
 */
export const SYSTEM_PROMPT_DYNAMIC_BOUNDARY = '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__';
