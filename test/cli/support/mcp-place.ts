import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigPlace, configPlace } from '../../config/config-place.ts';
import { runCli } from './run-cli.ts';
import { TerminalProcess } from './terminal-process.ts';

/** A project and a home of the test's own, and `toolplane mcp` in it. */
export type McpPlace = ConfigPlace & {
  mcp(...args: readonly string[]): ReturnType<typeof runCli>;
  /** The same with something on stdin, or with other variables. */
  mcpWith(
    more: { readonly input?: string; readonly env?: Record<string, string>; readonly cwd?: string },
    ...args: readonly string[]
  ): ReturnType<typeof runCli>;
  /** What a JSON file of the project or of the home holds; undefined if there is none. */
  json(path: string): unknown;
};

export function mcpPlace(): McpPlace {
  const place = configPlace();
  const mcpWith: McpPlace['mcpWith'] = ({ input = '', env = {}, cwd = place.project }, ...args) =>
    runCli(['mcp', ...args], input, { cwd, env: { ...place.env, ...env } });
  return {
    ...place,
    mcpWith,
    mcp: (...args) => mcpWith({}, ...args),
    json: (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined),
  };
}

export const projectFile = ({ project }: ConfigPlace): string => join(project, '.mcp.json');
export const localFile = ({ project }: ConfigPlace): string =>
  join(project, '.toolplane', 'settings.local.json');
export const userFile = ({ home }: ConfigPlace): string => join(home, 'settings.json');

/** A server whose start can be seen: it makes a file. */
export const marker = (path: string) => ({
  command: process.execPath,
  args: ['-e', `require('node:fs').writeFileSync(${JSON.stringify(path)}, 'started')`],
});

/** `toolplane mcp` in a terminal of its own, whose shell begins in the project. */
export function mcpTerminal(
  place: ConfigPlace,
  args: readonly string[],
  env: Record<string, string> = {},
): TerminalProcess {
  const shell = place.write(
    join(place.userHome, 'shell.sh'),
    `#!/bin/sh\ncd '${place.project}' && exec /bin/sh "$@"\n`,
  );
  chmodSync(shell, 0o755);
  return new TerminalProcess(['mcp', ...args], { ...place.env, ...env, SHELL: shell });
}
