import type { Options } from './options.ts';

/** What is worth telling about options that are legal but do not do what one might think. */
export function optionWarnings(options: Options): { code: string; message: string }[] {
  const warnings: { code: string; message: string }[] = [];
  if (options.mcpConfig !== undefined) {
    warnings.push({
      code: 'TOOLPLANE_MCP_CONFIG_DEPRECATED',
      message:
        'options.mcpConfig is deprecated: use options.mcpServers, which also takes servers of this process',
    });
  }
  if (!options.canUseTool) return warnings;
  if (options.permissionMode === 'bypassPermissions') {
    warnings.push({
      code: 'TOOLPLANE_CAN_USE_TOOL_SHADOWED',
      message:
        "options.canUseTool will not be asked: permissionMode 'bypassPermissions' allows every call before it. Use a PreToolUse hook to see every call",
    });
    return warnings;
  }
  const whole = (options.allowedTools ?? []).filter((rule) => /^[^()]+(\(\*?\))?$/.test(rule));
  if (whole.length > 0) {
    warnings.push({
      code: 'TOOLPLANE_CAN_USE_TOOL_SHADOWED',
      message: `options.canUseTool will not be asked about ${[...new Set(whole)].join(', ')}: allowedTools allows these tools whole. Remove them there, or use a PreToolUse hook`,
    });
  }
  return warnings;
}
