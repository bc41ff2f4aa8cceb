import { fileURLToPath } from 'node:url';

/** The path of the stand-in CLI, for `pathToClaudeCodeExecutable`. */
export const STAND_IN_CLI = fileURLToPath(new URL('../stand-in-cli.mjs', import.meta.url));
