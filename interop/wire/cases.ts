import type { WireCase } from './case.ts';
import { ARGV_CASES } from './cases/argv.ts';
import { CALLBACK_CASES } from './cases/callbacks.ts';
import { ENVIRONMENT_CASES } from './cases/environment.ts';
import { EVERYTHING_CASES } from './cases/everything.ts';
import { INITIALIZE_CASES } from './cases/initialize.ts';
import { INPUT_CASES } from './cases/input.ts';
import { MCP_CASES } from './cases/mcp.ts';
import { PERMISSION_CASES } from './cases/permissions.ts';
import { QUERY_METHOD_CASES } from './cases/query-methods.ts';
import { SANDBOX_CASES } from './cases/sandbox.ts';
import { SESSION_CASES } from './cases/sessions.ts';
import { TOOL_CASES } from './cases/tools.ts';

/** All cases for both SDKs, in order. */
export const CASES: readonly WireCase[] = [
  ...ARGV_CASES,
  ...SANDBOX_CASES,
  ...INITIALIZE_CASES,
  ...EVERYTHING_CASES,
  ...ENVIRONMENT_CASES,
  ...INPUT_CASES,
  ...QUERY_METHOD_CASES,
  ...PERMISSION_CASES,
  ...CALLBACK_CASES,
  ...MCP_CASES,
  ...TOOL_CASES,
  ...SESSION_CASES,
];
