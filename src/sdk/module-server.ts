import { existsSync } from 'node:fs';
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
    args: [...cliArgs(), 'serve', path, ...name],
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

/** Runs the command of this package: from sources as TypeScript, in the package as JavaScript. */
function cliArgs(): string[] {
  const file = cliFile();
  if (file === undefined) {
    throw new SdkError(
      'bad-server',
      'moduleServer: the file of the toolplane command was not found, because a bundler has copied the code of the toolplane package; exclude the package from the bundle, or run "toolplane serve" as a stdio server',
    );
  }
  return file.endsWith('.ts') ? ['--conditions=toolplane-source', file] : [file];
}

function cliFile(): string | undefined {
  try {
    const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
    const file = fileURLToPath(new URL(`../cli/main${ending}`, import.meta.url));
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}
