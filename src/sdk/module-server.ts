import { fileURLToPath } from 'node:url';
import { SdkError } from '../protocol/sdk-error.ts';
import type { StdioServerEntry } from '../protocol/server-entry.ts';

/**
 * Runs a module that exports a tool server as a separate process, with `toolplane serve`. `url` is a file URL, such
 * as `new URL('./tools.ts', import.meta.url)`, or a path.
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
    args: [...SOURCES, cliPath(), 'serve', path, ...name],
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
      `moduleServer: ${text} is not a file; only modules on this machine can be served`,
    );
  }
  return fileURLToPath(text);
}

/** The command beside this file, with the same extension: TypeScript sources run the sources, the package runs the package. */
const ENDING = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
const SOURCES: readonly string[] = ENDING === '.ts' ? ['--conditions=toolplane-source'] : [];

function cliPath(): string {
  return fileURLToPath(new URL(`../cli/main${ENDING}`, import.meta.url));
}
