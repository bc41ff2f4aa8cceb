import { join } from 'node:path';
import { nearest } from '../../base/text/nearest.ts';
import { readConfiguration } from '../../config/configuration.ts';
import { fileSecretStore, type SecretStore } from '../../config/secrets/secret-store.ts';

import { messageOf } from '../../protocol/sdk-error.ts';
import { cliWorld } from '../host/config-world.ts';
import { errorDocument, sayFailure } from '../host/failure.ts';
import { jsonText, lines } from '../host/lines.ts';
import { NotUnderstood } from '../host/not-understood.ts';
import { type Output, processOutput } from '../host/output.ts';
import { homeOf } from '../host/with-host.ts';
import { readValue } from './read-value.ts';
import { listSecrets, secretTable } from './secret-list.ts';

export type SecretRequest = { readonly format: 'text' | 'json' } & (
  | { readonly action: 'list' }
  | { readonly action: 'set' | 'remove'; readonly name: string }
);

type Work = { readonly store: SecretStore; readonly path: string; readonly output: Output };

/** `toolplane secret`; gives its exit code. */
export async function startSecret(request: SecretRequest, env: NodeJS.ProcessEnv): Promise<number> {
  const output = processOutput(env, () => {});
  const path = join(homeOf(env), 'secrets.json');
  const work = { store: fileSecretStore(path), path, output };
  try {
    if (request.action === 'list') return await list(request.format, work, env);
    return await (request.action === 'set' ? set : remove)(request.name, request.format, work);
  } catch (cause) {
    for (const line of sayFailure(cause)) output.tell(line);
    if (request.format === 'json') await output.print(jsonText(errorDocument(cause)));
    return cause instanceof NotUnderstood ? 2 : 1;
  }
}

const INTERRUPTED = 130;

async function set(name: string, format: string, { store, path, output }: Work): Promise<number> {
  // A store that cannot be used is told before anybody types.
  const had = store.names().includes(name);
  const value = await readValue(name, process.stdin, process.stderr);
  process.stdin.destroy();
  if (value === undefined) {
    output.tell('nothing was changed');
    return INTERRUPTED;
  }
  store.set(name, value);
  const done = had ? 'replaced' : 'added';
  const text = `${done} ${name} in ${path}; entries refer to it by \${secret:${name}}\n`;
  await output.print(format === 'json' ? jsonText({ secret: name, done }) : text);
  return 0;
}

async function remove(name: string, format: string, { store, path, output }: Work): Promise<number> {
  const names = store.names();
  if (!names.includes(name) || !store.remove(name)) throw new NotUnderstood(sayUnknown(name, names));
  const text = `removed ${name} from ${path}\n`;
  await output.print(format === 'json' ? jsonText({ secret: name, done: 'removed' }) : text);
  return 0;
}

function sayUnknown(name: string, names: readonly string[]): string {
  const meant = nearest(name, names);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  return `there is no secret "${name}"${hint} (there ${names.length === 0 ? 'are none' : `are ${names.join(', ')}`})`;
}

async function list(format: string, { store, output }: Work, env: NodeJS.ProcessEnv): Promise<number> {
  const names = store.names();
  const entries = await entriesOf(env, output);
  const found = listSecrets(names, entries ?? []);
  if (format === 'json') await output.print(jsonText(found));
  else if (names.length === 0)
    await output.print('there are no secrets; "toolplane secret set <name>" adds one\n');
  else await output.print(lines(secretTable(found, output.columns, entries ? 'known' : 'unknown')));
  for (const { name, servers } of found.missing) {
    const who = `${servers.join(', ')} ${servers.length === 1 ? 'refers' : 'refer'} to`;
    output.tell(`there is no secret ${name}, which ${who}; run "toolplane secret set ${name}"`);
  }
  return 0;
}

/** What is configured here; secrets are listed also where that cannot be read. */
async function entriesOf(env: NodeJS.ProcessEnv, output: Output): Promise<[string, object][] | undefined> {
  try {
    const { merged } = await readConfiguration(cliWorld(env));
    return merged.servers.flatMap(({ name, entry }) => (entry ? [[name, entry] as [string, object]] : []));
  } catch (cause) {
    output.tell(`which servers use them is not known: ${messageOf(cause)}`);
    return undefined;
  }
}
