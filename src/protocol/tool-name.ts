const PREFIX = 'mcp__';

/** Each UTF-16 unit outside `[a-zA-Z0-9_-]` becomes `_`, so an emoji two; nothing is collapsed or trimmed (R142). */
export function normalizeName(part: string): string {
  return part.replace(/[^a-zA-Z0-9_-]/g, '_');
}

/** The name a model sees (R163). The way back is a map, never a split: either part may contain `__`. */
export function mcpToolName(server: string, tool: string): string {
  return `${mcpToolPrefix(server)}${normalizeName(tool)}`;
}

/** What the names of all tools of a server begin with: `mcp__<server>__`. */
export function mcpToolPrefix(server: string): string {
  return `${mcpServerRule(server)}__`;
}

/** What a permission rule calls all tools of a server: `mcp__<server>`. */
export function mcpServerRule(server: string): string {
  return `${PREFIX}${normalizeName(server)}`;
}

/** A tool's name made of the names as the server and its entry write them, which models may not be able to use. */
export function writtenToolName(server: string, tool: string): string {
  return `${PREFIX}${server}__${tool}`;
}

/** Whether a name is that of an MCP tool, or a rule about MCP tools. */
export function isMcpToolName(name: string): boolean {
  return name.startsWith(PREFIX);
}

/**
 * The server and the tool that a name most likely means. A guess for suggestions to people, since either part may contain
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
