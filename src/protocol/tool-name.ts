/** Each UTF-16 unit outside `[a-zA-Z0-9_-]` becomes `_`, so an emoji two; nothing is collapsed or trimmed (R142). */
export function normalizeName(part: string): string {
  return part.replace(/[^a-zA-Z0-9_-]/g, '_');
}

/** The name a model sees (R163). The way back is a map, never a split: either part may contain `__`. */
export function mcpToolName(server: string, tool: string): string {
  return `mcp__${normalizeName(server)}__${normalizeName(tool)}`;
}
