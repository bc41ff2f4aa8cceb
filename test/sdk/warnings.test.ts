import { expect, test } from 'vitest';
import type { Options } from '../../src/sdk/options.ts';
import { optionWarnings } from '../../src/sdk/warnings.ts';

const canUseTool = async () => null;
const shadowed = (message: string) => ({ code: 'TOOLPLANE_CAN_USE_TOOL_SHADOWED', message });
const by = (tools: string) =>
  shadowed(
    `options.canUseTool will not be asked about ${tools}: allowedTools allows these tools whole. Remove them there, or use a PreToolUse hook`,
  );
const bypassed = shadowed(
  "options.canUseTool will not be asked: permissionMode 'bypassPermissions' allows every call before it. Use a PreToolUse hook to see every call",
);

test.each<[string, Options, object[]]>([
  ['nothing', {}, []],
  ['a callback alone', { canUseTool }, []],
  ['allowed tools alone', { allowedTools: ['Read'] }, []],
  ['a whole tool', { canUseTool, allowedTools: ['Read'] }, [by('Read')]],
  [
    'whole in every spelling, each told once, in order',
    { canUseTool, allowedTools: ['B()', 'A(*)', 'B()', 'mcp__c'] },
    [by('B(), A(*), mcp__c')],
  ],
  ['parts of a tool', { canUseTool, allowedTools: ['Bash(git log:*)'] }, []],
  ['bypass', { canUseTool, permissionMode: 'bypassPermissions' }, [bypassed]],
  [
    'bypass says it all',
    { canUseTool, permissionMode: 'bypassPermissions', allowedTools: ['Read'] },
    [bypassed],
  ],
  ['another mode', { canUseTool, permissionMode: 'plan' }, []],
  [
    'the deprecated path (R13)',
    { mcpConfig: '/x' },
    [
      {
        code: 'TOOLPLANE_MCP_CONFIG_DEPRECATED',
        message:
          'options.mcpConfig is deprecated: use options.mcpServers, which also takes servers of this process',
      },
    ],
  ],
])('%s', (_, options, warnings) => {
  expect(optionWarnings(options)).toEqual(warnings);
});
