import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { WritableScope } from '../../../config/write/write-servers.ts';
import { inSession } from '../session.ts';
import type { McpFormat } from '../sub-command.ts';
import { type Given, givenEntry } from './given-entry.ts';
import { readJson } from './read-json.ts';
import { storeServer } from './store.ts';

type Target = { readonly name: string; readonly scope: WritableScope; readonly force: boolean };

/** `toolplane mcp add`; gives its exit code. */
export function startAdd(
  { given, ...target }: Target & { readonly given: Given },
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, (session) => {
    const { cwd } = given;
    // Typed here, so it is meant from here; in the file of the person it would start at that file.
    const isRelative = cwd !== undefined && target.scope === 'user' && !cwd.startsWith('${');
    const meant = isRelative ? { ...given, cwd: resolve(session.world.cwd, cwd) } : given;
    return storeServer(session, { ...target, given: givenEntry(target.name, meant) });
  });
}

/** `toolplane mcp add-json`; gives its exit code. A `-` is what comes through stdin. */
export function startAddJson(
  { json, ...target }: Target & { readonly json: string },
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async (session) => {
    const given = readJson(target.name, json === '-' ? await text(process.stdin) : json);
    return storeServer(session, { ...target, given });
  });
}
