import { stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isRecord } from '../../base/json-value.ts';
import { visibleText } from '../../base/text/display-text.ts';
import type { ConfigContext } from '../config-context.ts';
import { literalText } from '../expand/parse-template.ts';
import { formatKeyPath } from '../files/diagnostics.ts';
import { readDocument } from '../files/read-document.ts';
import type { ConfigDiagnostic, Source } from '../model.ts';
import { isOutside } from './config-paths.ts';
import { type Origin, readServers } from './read-servers.ts';
import { type Content, type FileState, fileState, type SettingsSource } from './source-types.ts';
import { validateServerName } from './validate-entry.ts';

/** What a plugin says, the lowest first, and the files that were looked at. */
type Plugin = { readonly sources: readonly Source[]; readonly files: readonly FileState[] };

/** Reads a directory with an `.mcp.json` of its own, with servers in its `plugin.json`, or with both; the latter count more. */
export async function readPlugin(directory: string, labelOf: (path: string) => string): Promise<Plugin> {
  const path = join(directory, '.mcp.json');
  const manifests = [join(directory, '.claude-plugin', 'plugin.json'), join(directory, 'plugin.json')];
  const read = (it: string) => readDocument(it, { within: directory });
  const [missing, own, ...found] = await Promise.all([
    missingDirectory(directory),
    read(path),
    ...manifests.map(read),
  ]);
  const files = [own, ...found].map((it) => fileState(it.path, labelOf(it.path), it));
  const manifest = found.find(({ state }) => state !== 'absent');
  const owner = pluginName(manifest, directory);
  const origin = (at: string): Origin => ({
    scope: 'plugin',
    label: labelOf(at),
    path: at,
    owner,
    kind: 'plugin',
    adapt: (raw) => withPluginRoot(raw, directory),
  });
  if (missing !== undefined) {
    const place = { ...origin(path), label: labelOf(directory) };
    return { sources: [readServers({ state: 'unusable', fault: missing }, place)], files };
  }
  const sources = [readServers(own, origin(path))];
  if (manifest?.state === 'unusable') sources.push(readServers(manifest, origin(manifest.path)));
  if (manifest?.state !== 'read') return { sources, files };
  const { mcpServers } = manifest.value;
  if (typeof mcpServers !== 'string') {
    const inManifest = readServers(manifest, { ...origin(manifest.path), kind: 'settings' });
    return { sources: mcpServers === undefined ? sources : [...sources, inManifest], files };
  }
  const other = resolve(directory, mcpServers);
  // Many plugins name the file that is read anyway.
  if (other === path) return { sources, files };
  const content = await readNamed(other, directory);
  return {
    sources: [...sources, readServers(content, origin(other))],
    files: [...files, fileState(other, labelOf(other), content)],
  };
}

async function readNamed(path: string, directory: string): Promise<Content> {
  if (isOutside(relative(directory, path)))
    return {
      state: 'unusable',
      fault: 'plugin.json names a file outside of the plugin; move the file into the plugin',
    };
  const content = await readDocument(path, { within: directory });
  if (content.state !== 'absent') return content;
  return { state: 'unusable', fault: 'plugin.json names a file that does not exist' };
}

async function missingDirectory(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isDirectory() ? undefined : 'a plugin must be a directory';
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'no such directory; check the path of the plugin';
    return `the directory of the plugin cannot be read (${code})`;
  }
}

function pluginName(manifest: Content | undefined, directory: string): string {
  const name = manifest?.state === 'read' ? manifest.value.name : undefined;
  return typeof name === 'string' && validateServerName(name) === undefined
    ? name
    : visibleText(basename(directory));
}

/** The directories that settings name in `plugins`, seen from the file they stand in; `~/` is the person's home. */
export function pluginDirectories(
  { scope, label, path, value, locate }: SettingsSource,
  { cwd, userHome }: Pick<ConfigContext, 'cwd' | 'userHome'>,
): { readonly directories: readonly string[]; readonly faults: readonly ConfigDiagnostic[] } {
  const { plugins } = value;
  if (plugins === undefined) return { directories: [], faults: [] };
  const fault = (way: readonly (string | number)[], message: string): ConfigDiagnostic => {
    const position = locate(way);
    return { level: 'error', scope, label, key: formatKeyPath(way), ...(position && { position }), message };
  };
  if (!Array.isArray(plugins))
    return { directories: [], faults: [fault(['plugins'], 'must be a list of directories')] };
  const directories: string[] = [];
  const faults: ConfigDiagnostic[] = [];
  const base = path === undefined ? cwd : dirname(path);
  for (const [index, it] of (plugins as unknown[]).entries()) {
    if (typeof it !== 'string' || it === '' || it.includes('\0'))
      faults.push(fault(['plugins', index], 'must be the path of a directory'));
    else directories.push(/^~[\\/]/.test(it) ? join(userHome, it.slice(2)) : resolve(base, it));
  }
  return { directories, faults };
}

/** Puts the plugin's directory in for the variables that stand for it, in every text of an entry. */
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

/** What stands after `$$` is meant literally. */
const ROOT = /(?<!\$)\$\{(?:TOOLPLANE|CLAUDE)_PLUGIN_ROOT\}/g;
