import { memoryOptions } from '../../../agent/launch/memory-options.ts';
import { type MemoryFile, MemoryReader } from '../../../agent/memory/memory-files.ts';
import { formatCount, pluralize } from '../../../base/text/display-text.ts';
import { type Configuration, readConfiguration } from '../../../config/configuration.ts';
import { pathLabel } from '../../../config/sources/config-paths.ts';
import type { ConfigFlags } from '../../../config/sources/source-types.ts';
import { cliContext } from '../../host/named-servers.ts';
import { inSession } from '../../mcp/session.ts';
import { line, type Piece } from '../../terminal/render.ts';

/** The memory files of a session in this directory. */
export type MemoryExplanation = {
  readonly kind: 'memory';
  /** The files that are sent before the first prompt, in their order. */
  readonly files: readonly MemoryRow[];
  /** The files that are sent once the model reads a file whose path matches. */
  readonly rules: readonly MemoryRow[];
  readonly ignored: readonly (Pick<MemoryRow, 'path' | 'scope' | 'importedBy'> & {
    readonly reason: string;
  })[];
  /** The tokens of `files`, estimated. */
  readonly tokens: number;
  /** The auto-memory folder; undefined if it is disabled. */
  readonly autoFolder?: string;
};

type MemoryRow = {
  readonly path: string;
  readonly scope: string;
  readonly characters: number;
  /** An estimate. */
  readonly tokens: number;
  readonly importedBy?: string;
  readonly paths?: readonly string[];
};

/** Runs `toolplane explain memory`; returns its exit code. */
export function startExplainMemory(
  wanted: ConfigFlags,
  format: 'text' | 'json',
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async (session) => {
    const configuration = await readConfiguration(session.context, wanted);
    const document = explainMemory(configuration);
    await session.answer({ document, pieces: memoryText(document, configuration) });
    return 0;
  });
}

/** `/memory` of the chat: the files of a new conversation with these sources. */
export async function memoryList(settingSources: readonly string[] | undefined): Promise<Piece[]> {
  const wanted = settingSources ? { scopes: settingSources } : {};
  const configuration = await readConfiguration(cliContext(process.env), wanted);
  return memoryText(explainMemory(configuration), configuration);
}

export function explainMemory(configuration: Configuration): MemoryExplanation {
  const { cwd, env, userHome } = configuration.context;
  const options = memoryOptions(configuration, { cwd, env, home: userHome });
  const { files, rules, ignored } = new MemoryReader(options).readStart();
  const [autoFolder] = options.autoFolders ?? [];
  return {
    kind: 'memory',
    files: files.map(rowOf),
    rules: rules.map(rowOf),
    ignored: ignored.map(({ path, scope, reason, importedBy }) => ({
      path,
      scope,
      reason,
      ...(importedBy !== undefined && { importedBy }),
    })),
    tokens: files.reduce((sum, { tokens }) => sum + tokens, 0),
    ...(autoFolder !== undefined && { autoFolder }),
  };
}

function rowOf({ path, scope, text, tokens, importedBy, globs }: MemoryFile): MemoryRow {
  return {
    path,
    scope,
    characters: text.length,
    tokens,
    ...(importedBy !== undefined && { importedBy }),
    ...(globs && { paths: globs }),
  };
}

function memoryText(
  { files, rules, ignored, tokens, autoFolder }: MemoryExplanation,
  { context }: Pick<Configuration, 'context'>,
): Piece[] {
  const label = (path: string) => pathLabel(path, context);
  const from = ({ importedBy }: Pick<MemoryRow, 'importedBy'>) =>
    importedBy === undefined ? '' : `, imported by ${label(importedBy)}`;
  const row = (it: MemoryRow) =>
    line(
      ['  ', 'dim'],
      [label(it.path), 'strong'],
      [`  ${it.scope}, ~${formatCount(it.tokens)} tokens${from(it)}`, 'dim'],
    );
  const total = `${pluralize(files.length, 'memory file')}, ~${formatCount(tokens)} tokens`;
  return [
    line(files.length === 0 ? 'No memory files.' : `${total}, sent before the first prompt:`),
    ...files.map(row),
    ...(rules.length > 0 ? [line('Sent after a matching file has been read:')] : []),
    ...rules.flatMap((it) => [row(it), line([`    for ${(it.paths ?? []).join(', ')}`, 'dim'])]),
    ...(ignored.length > 0 ? [line(['Ignored:', 'warn'])] : []),
    ...ignored.map((it) => line(`  ${label(it.path)}  ${it.reason}${from(it)}`)),
    line([
      autoFolder === undefined ? 'Auto memory is disabled.' : `Auto memory: ${label(autoFolder)}`,
      'dim',
    ]),
  ];
}
