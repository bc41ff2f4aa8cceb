import type { SessionOptions } from '../session/session-options.ts';

/** What the environment says about long results, under the names people know; what it says in vain is told. */
export function readResultSettings(env: Readonly<Record<string, string | undefined>>): {
  readonly options: Pick<SessionOptions, 'maxResultTokens' | 'resultFiles'>;
  readonly notes: readonly string[];
} {
  const tokens = env.MAX_MCP_OUTPUT_TOKENS?.trim() ?? '';
  const files = env.ENABLE_MCP_LARGE_OUTPUT_FILES?.trim().toLowerCase() ?? '';
  const isCount = /^[1-9]\d{0,8}$/.test(tokens);
  const isWord = files === '' || NO.has(files) || YES.has(files);
  return {
    options: {
      ...(isCount && { maxResultTokens: Number(tokens) }),
      ...(NO.has(files) && { resultFiles: false }),
    },
    notes: [
      ...(isCount || tokens === ''
        ? []
        : ['MAX_MCP_OUTPUT_TOKENS must be a whole number above 0: it is not used']),
      ...(isWord ? [] : ['ENABLE_MCP_LARGE_OUTPUT_FILES is true or false: it is not used']),
    ],
  };
}

const NO: ReadonlySet<string> = new Set(['false', '0', 'no', 'off']);
const YES: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on']);
