import { BASH } from './bash.ts';
import type { BuiltIn } from './built-in.ts';
import { CONNECT_MCP } from './connect-mcp.ts';
import { EDIT } from './edit.ts';
import { GLOB } from './glob.ts';
import { GREP } from './grep.ts';
import { LIST_MCP_RESOURCES } from './list-mcp-resources.ts';
import { READ } from './read.ts';
import { READ_MCP_RESOURCE } from './read-mcp-resource.ts';
import { SLEEP } from './sleep.ts';
import { TASK } from './task.ts';
import { TOOL_SEARCH } from './tool-search.ts';
import { WRITE } from './write.ts';

/** Every built-in tool, sorted by name. Reading this table loads no more than their descriptions. */
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
