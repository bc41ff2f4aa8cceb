import type { BuiltIn } from './built-in.ts';
import { CONNECT_MCP } from './connect-mcp.ts';
import { EDIT } from './files/edit.ts';
import { READ } from './files/read.ts';
import { WRITE } from './files/write.ts';
import { LIST_MCP_RESOURCES, READ_MCP_RESOURCE } from './mcp-resources.ts';
import { GLOB } from './search/glob.ts';
import { GREP } from './search/grep.ts';
import { BASH } from './shell/bash.ts';
import { SLEEP } from './sleep.ts';
import { TASK } from './task.ts';
import { TOOL_SEARCH } from './tool-search.ts';

/** All built-in tools, sorted by name. Their implementations are loaded on first use. */
export const BUILT_INS: readonly BuiltIn[] = [
  BASH,
  EDIT,
  GLOB,
  GREP,
  LIST_MCP_RESOURCES,
  READ,
  READ_MCP_RESOURCE,
  SLEEP,
  TASK,
  TOOL_SEARCH,
  WRITE,
  CONNECT_MCP,
];
