import { fileURLToPath } from 'node:url';
import { SdkError } from '../protocol/sdk-error.ts';
import type { StdioServerEntry } from '../protocol/server-entry.ts';

/**
 * A module that exports a tool server, as an entry of `mcpServers`: the agent runs it in a process of its own by `toolplane serve`.
 * `url` is a file URL (`new URL('./tools.ts', import.meta.url)`) or a path.
 */
export function moduleServer(
  url: URL | string,
  options: { export?: string; env?: Record<string, string>; timeout?: number } = {},
): StdioServerEntry {
  const path = modulePath(url);
  const name = options.export === undefined ? [] : ['--export', options.export];
  return {
    type: 'stdio',
    command: process.execPath,
    args: [cliPath(), 'serve', path, ...name],
    ...(options.env && { env: options.env }),
    ...(options.timeout !== undefined && { timeout: options.timeout }),
  };
}

function modulePath(url: URL | string): string {
  const text = String(url);
  if (!/^[a-z]+:\/\//i.test(text)) return text;
  if (!text.startsWith('file:')) {
    throw new SdkError(
      'bad-server',
      `moduleServer: ${text} is no file; only modules on this machine can be served`,
    );
  }
  return fileURLToPath(text);
}

/** The command beside this file, with the same ending: sources run sources. */
function cliPath(): string {
  const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
  return fileURLToPath(new URL(`../cli/main${ending}`, import.meta.url));
}
