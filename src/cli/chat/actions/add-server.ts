import { setTimeout as delay } from 'node:timers/promises';
import type { McpServerStatus } from '../../../sdk/control-responses.ts';
import { cliContext } from '../../host/named-servers.ts';
import { storeServer } from '../../mcp/add.ts';
import { givenEntry } from '../../mcp/given-entry.ts';
import { line, type Piece } from '../../terminal/render.ts';

/** Splits a command line at spaces outside of quotes, and removes the quotes. */
export function splitWords(text: string): string[] {
  const words = text.match(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single));
}

export const ADD_USAGE = '/mcp add <name> <url or command> [arguments]';

/** `/mcp add`: stores a server for this project, as `toolplane mcp add` does, and waits until the agent knows it. */
export async function addServer(
  text: string,
  env: NodeJS.ProcessEnv,
  client: { mcpServerStatus(): Promise<McpServerStatus[]> },
): Promise<readonly Piece[]> {
  const [name, target, ...args] = splitWords(text);
  if (name === undefined || target === undefined) {
    return [line([`/mcp add needs a name and an address or a command: ${ADD_USAGE}`, 'warn'])];
  }
  const pieces: Piece[] = [];
  const session = {
    context: cliContext(env),
    env,
    format: 'text' as const,
    answer: async (answer: { readonly pieces: readonly Piece[] }) => void pieces.push(...answer.pieces),
    report: (note: string) => void pieces.push(line([`  ${note}`, 'dim'])),
  };
  const given = givenEntry({ target, args, env: [], headers: [] });
  await storeServer(session, { name, scope: 'local', force: false, given });
  if (!(await isKnown(client, name))) {
    pieces.push(line([`  The agent does not use ${name} yet; /mcp shows its state.`, 'warn']));
  }
  return pieces;
}

const LOOKS = 20;
const LOOK_EVERY_MS = 150;

/** Waits until the agent, which watches its configuration files, lists the server; false if it does not in time. */
async function isKnown(
  client: { mcpServerStatus(): Promise<McpServerStatus[]> },
  name: string,
): Promise<boolean> {
  for (let look = 0; look < LOOKS; look += 1) {
    if ((await client.mcpServerStatus()).some((server) => server.name === name)) return true;
    await delay(LOOK_EVERY_MS);
  }
  return false;
}
