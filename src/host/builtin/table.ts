import { BASH } from './bash.ts';
import type { BuiltIn } from './built-in.ts';
import { CONNECT_MCP } from './connect-mcp.ts';
import { EDIT } from './edit.ts';
import { GLOB } from './glob.ts';
import { GREP } from './grep.ts';
import { READ } from './read.ts';
import { SLEEP } from './sleep.ts';
import { TASK } from './task.ts';
import { WRITE } from './write.ts';

/** Every built-in tool, sorted by name. Reading this table loads no more than their descriptions. */
export const BUILT_INS: readonly BuiltIn[] = [BASH, EDIT, GLOB, GREP, READ, SLEEP, TASK, WRITE, CONNECT_MCP];
