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
