const PREFIX = 'mcp__';

/** Replaces each UTF-16 unit outside `[a-zA-Z0-9_-]` by `_`, so an emoji by two; nothing is collapsed or trimmed (R142). */
export function normalizeName(part: string): string {
  return part.replace(/[^a-zA-Z0-9_-]/g, '_');
}

/** The name that a model sees (R163). Names are resolved by a map, never by splitting: either part may contain `__`. */
export function mcpToolName(server: string, tool: string): string {
  return `${mcpToolPrefix(server)}${normalizeName(tool)}`;
}

/** The prefix of the names of a server's tools: `mcp__<server>__`. */
export function mcpToolPrefix(server: string): string {
  return `${mcpServerRule(server)}__`;
}

/** The name of all tools of a server in permission rules: `mcp__<server>`. */
export function mcpServerRule(server: string): string {
  return `${PREFIX}${normalizeName(server)}`;
}

/** A tool's name from the unnormalized names of server and tool, which models may not accept. */
export function writtenToolName(server: string, tool: string): string {
  return `${PREFIX}${server}__${tool}`;
}

/** Other names of built-in tools, which rules, lists of tools and models use: former ones, and those of other agents. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  Task: 'Agent',
  KillShell: 'TaskStop',
  claim_task: 'ClaimTask',
  complete_task: 'CompleteTask',
  list_tasks: 'TaskList',
  send_message: 'SendMessage',
  submit_plan: 'SubmitPlan',
};

/** The current name of a built-in tool; any other name is returned as it is. */
export function currentToolName(name: string): string {
  return Object.hasOwn(OTHER_NAMES, name) ? (OTHER_NAMES[name] as string) : name;
}

/** Whether a name belongs to an MCP tool or a rule about MCP tools. */
export function isMcpToolName(name: string): boolean {
  return name.startsWith(PREFIX);
}

/**
 * The server and the tool that a name most likely refers to. Used for suggestions only, since either part may contain
 * `__`; `tool` is undefined in `mcp__<server>`.
 */
export function guessToolName(
  name: string,
): { readonly server: string; readonly tool: string | undefined } | undefined {
  const [, server, tool] = /^mcp__(.+?)(?:__(.*))?$/s.exec(name) ?? [];
  return server === undefined ? undefined : { server, tool: tool || undefined };
}

/** Whether the `*` of an `mcp__…` rule is in the place of the server's name, so that the rule is about many servers. */
export function hasServerWildcard(rule: string): boolean {
  const star = rule.indexOf('*');
  return star >= 0 && isMcpToolName(rule) && !rule.slice(PREFIX.length, star).includes('__');
}
