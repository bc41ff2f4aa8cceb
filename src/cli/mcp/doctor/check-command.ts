import { resolve } from 'node:path';
import { shellWord } from '../../../base/text/display-text.ts';
import type { ConfigWorld } from '../../../config/config-context.ts';
import { leastEnvironment } from '../../../mcp/transports/stdio/server-environment.ts';
import type { StdioServerEntry } from '../../../protocol/server-entry.ts';
import type { Finding } from './finding.ts';
import { onPath } from './on-path.ts';

/** Whether the command of a server can be run; the entry is expanded. */
export async function checkCommand(
  entry: StdioServerEntry,
  cwd: string,
  world: ConfigWorld,
): Promise<Finding> {
  const { command } = entry;
  const { PATH } = leastEnvironment(world.env, entry, world.platform);
  const found = await onPath(command, { path: PATH, cwd, platform: world.platform });
  const told = (level: Finding['level'], text: string, fix?: string): Finding => ({
    check: 'command',
    level,
    text,
    ...(fix !== undefined && { fix }),
  });
  switch (found.kind) {
    case 'found':
      return told('ok', `${command} is ${found.path}`);
    case 'not-executable':
      return told('error', `${found.path} may not be run`, `chmod +x ${shellWord(found.path)}`);
    case 'missing':
      if (/^\.{0,2}[\\/]/.test(command))
        return told(
          'error',
          `there is no ${resolve(cwd, command)}`,
          'give its full path as "command", or set "cwd"',
        );
      return told('error', `the command ${JSON.stringify(command)} is not on PATH`, howToGet(command));
  }
}

function howToGet(command: string): string {
  if (/\s/.test(command)) return 'put what follows the first word of "command" into "args"';
  const known = INSTALL.get(command.replace(/^.*[\\/]/, ''));
  return known ?? `install ${command}, or give its full path as "command"`;
}

/** What the usual commands come with. */
const INSTALL: ReadonlyMap<string, string> = new Map([
  ['npx', 'install Node.js, which brings npx; or give its full path as "command"'],
  ['npm', 'install Node.js, which brings npm'],
  ['node', 'install Node.js, or give its full path as "command"'],
  ['uvx', 'install uv, which brings uvx; or give its full path as "command"'],
  ['uv', 'install uv, or give its full path as "command"'],
  ['docker', 'install Docker and start it'],
  ['python', 'install Python, or write "python3" as "command"'],
  ['python3', 'install Python 3'],
  ['bunx', 'install Bun, which brings bunx'],
  ['deno', 'install Deno'],
]);
