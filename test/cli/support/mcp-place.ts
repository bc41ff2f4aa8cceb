import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigPlace, configPlace } from '../../config/config-place.ts';
import { runCli } from './run-cli.ts';
import { TerminalProcess } from './terminal-process.ts';

/** A temporary project and home, and `toolplane mcp` in it. */
export type McpPlace = ConfigPlace & {
  mcp(...args: readonly string[]): ReturnType<typeof runCli>;
  /** The same with stdin or other environment variables. */
  mcpWith(
    more: { readonly input?: string; readonly env?: Record<string, string>; readonly cwd?: string },
    ...args: readonly string[]
  ): ReturnType<typeof runCli>;
  /** The content of a JSON file of the project or home; undefined if it does not exist. */
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

/** A server that creates a file when it starts. */
export const marker = (path: string) => ({
  command: process.execPath,
  args: ['-e', `require('node:fs').writeFileSync(${JSON.stringify(path)}, 'started')`],
});

/** `toolplane mcp` in its own terminal, started in the project. */
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
