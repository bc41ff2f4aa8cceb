import { statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isRecord } from '../../base/json-value.ts';
import { visibleText } from '../../base/text/display-text.ts';
import type { ConfigContext } from '../config-context.ts';
import { literalText } from '../expand/parse-template.ts';
import { diagnosticAt } from '../files/diagnostics.ts';
import { type Document, readDocument } from '../files/read-document.ts';
import { isWithin } from '../files/read-text.ts';
import type { ConfigDiagnostic, Source } from '../model.ts';
import { type Origin, readServers } from './read-servers.ts';
import { type FileState, fileState, type SettingsSource } from './source-types.ts';
import { validateServerName } from './validate-entry.ts';

/** The sources of a plugin, lowest precedence first, and the files that were looked for. */
type Plugin = {
  readonly name: string;
  readonly sources: readonly Source[];
  readonly files: readonly FileState[];
};

/** Reads a directory with an `.mcp.json`, with servers in its `plugin.json`, or with both; `plugin.json` takes precedence. */
export function readPlugin(directory: string, labelOf: (path: string) => string): Plugin {
  const path = join(directory, '.mcp.json');
  const read = (at: string) => ({ path: at, document: readDocument(at, { within: directory }) });
  const own = read(path);
  const manifests = [join(directory, '.claude-plugin', 'plugin.json'), join(directory, 'plugin.json')].map(
    read,
  );
  const files = [own, ...manifests].map((it) => fileState(it.path, labelOf(it.path), it.document));
  const manifest = manifests.find(({ document }) => document.state !== 'absent');
  const owner = pluginName(manifest?.document, directory);
  const origin = (at: string): Origin => ({
    scope: 'plugin',
    label: labelOf(at),
    path: at,
    owner,
    kind: 'plugin',
    adapt: (raw) => withPluginRoot(raw, directory),
  });
  const fault = directoryFault(directory);
  if (fault !== undefined) {
    const place = { ...origin(path), label: labelOf(directory) };
    return { name: owner, sources: [readServers({ state: 'unusable', fault }, place)], files };
  }
  const sources = [readServers(own.document, origin(path))];
  if (!manifest) return { name: owner, sources, files };
  const { document } = manifest;
  if (document.state !== 'read')
    return { name: owner, sources: [...sources, readServers(document, origin(manifest.path))], files };
  const { mcpServers } = document.value;
  if (typeof mcpServers !== 'string') {
    const inManifest = readServers(document, { ...origin(manifest.path), kind: 'settings' });
    return { name: owner, sources: mcpServers === undefined ? sources : [...sources, inManifest], files };
  }
  const other = resolve(directory, mcpServers);
  // Many plugins name `.mcp.json`, which is read anyway.
  if (other === path) return { name: owner, sources, files };
  const named = readNamed(other, directory);
  return {
    name: owner,
    sources: [...sources, readServers(named, origin(other))],
    files: [...files, fileState(other, labelOf(other), named)],
  };
}

function readNamed(path: string, directory: string): Document {
  if (!isWithin(path, directory))
    return {
      state: 'unusable',
      fault: 'plugin.json names a file outside of the plugin; move the file into the plugin',
    };
  const document = readDocument(path, { within: directory });
  if (document.state !== 'absent') return document;
  return { state: 'unusable', fault: 'plugin.json names a file that does not exist; check the path' };
}

function directoryFault(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? undefined : 'a plugin must be a directory';
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'no such directory; check the path of the plugin';
    return `the directory of the plugin cannot be read (${code}); check its permissions`;
  }
}

function pluginName(manifest: Document | undefined, directory: string): string {
  const name = manifest?.state === 'read' ? manifest.value.name : undefined;
  return typeof name === 'string' && validateServerName(name) === undefined
    ? name
    : visibleText(basename(directory));
}

/** The directories in `plugins` of settings, relative to the settings file; `~/` is the user's home. */
export function pluginDirectories(
  source: SettingsSource,
  { cwd, userHome }: Pick<ConfigContext, 'cwd' | 'userHome'>,
): { readonly directories: readonly string[]; readonly faults: readonly ConfigDiagnostic[] } {
  const { path, value } = source;
  const { plugins } = value;
  if (plugins === undefined) return { directories: [], faults: [] };
  if (!Array.isArray(plugins))
    return { directories: [], faults: [diagnosticAt(source, ['plugins'], 'must be a list of directories')] };
  const directories: string[] = [];
  const faults: ConfigDiagnostic[] = [];
  const base = path === undefined ? cwd : dirname(path);
  for (const [index, it] of (plugins as unknown[]).entries()) {
    if (typeof it !== 'string' || it === '' || it.includes('\0'))
      faults.push(diagnosticAt(source, ['plugins', index], 'must be the path of a directory'));
    else directories.push(/^~[\\/]/.test(it) ? join(userHome, it.slice(2)) : resolve(base, it));
  }
  return { directories, faults };
}

/** Substitutes the plugin's directory for `${TOOLPLANE_PLUGIN_ROOT}` in every string of an entry. */
export function withPluginRoot<T>(value: T, directory: string): T {
  const literal = literalText(directory);
  const put = (it: unknown): unknown => {
    if (typeof it === 'string') return it.replaceAll(ROOT, () => literal);
    if (Array.isArray(it)) return it.map(put);
    if (!isRecord(it)) return it;
    return Object.fromEntries(Object.entries(it).map(([name, member]) => [name, put(member)]));
  };
  return put(value) as T;
}

/** After another `$` the text is literal. */
const ROOT = /(?<!\$)\$\{(?:TOOLPLANE|CLAUDE)_PLUGIN_ROOT\}/g;
