import { pluralize } from '../../../base/text/display-text.ts';
import type { GlobOutput } from '../../../protocol/tools/file-tools.ts';
import { failedOutcome } from '../../loop/run-calls.ts';
import { defineBuiltIn } from '../built-in.ts';
import { parseGlob } from './glob-pattern.ts';

export const GLOB = defineBuiltIn({
  name: 'Glob',
  description:
    'Finds files by name, newest first, at most 100. The pattern is relative to path: "*.ts" finds files directly in it, ' +
    '"**/*.ts" at any depth. .git and node_modules are left out unless the pattern names them.',
  annotations: { title: 'Find files', readOnlyHint: true },
  required: {
    pattern: { type: 'string', minLength: 1, description: 'For example "src/**/*.{ts,tsx}".' },
  },
  optional: {
    path: {
      type: 'string',
      minLength: 1,
      description: 'The directory to search; the working directory by default.',
    },
  },
  pathMember: 'path',
  async run({ pattern, path }, context, signal) {
    const startedAt = performance.now();
    const { findFiles, searchRoot, shownPath } = await import('./find-files.ts');
    const root = await searchRoot(path, context.workspace);
    if (root.kind === 'refused') return failedOutcome(root.fault);
    if (root.kind === 'file') return failedOutcome(`${root.path} is a file: set "path" to a directory`);
    const below = belowRoot(pattern, root.path);
    if (below === undefined) {
      return failedOutcome(
        `The pattern is outside ${root.path}: set "path" to the directory in which the pattern starts`,
      );
    }
    const glob = parseGlob(below);
    if (typeof glob === 'string') return failedOutcome(`Invalid pattern "${pattern}": ${glob}`);
    const found = await findFiles(root.path, glob, context, signal);
    const filenames = found.slice(0, MAX_SHOWN).map((it) => shownPath(it, context.workspace));
    const more = found.length - filenames.length;
    const programResult: GlobOutput = {
      filenames,
      durationMs: Math.round(performance.now() - startedAt),
      numFiles: filenames.length,
      truncated: more > 0,
      totalMatches: found.length,
      countIsComplete: true,
    };
    const note =
      more > 0 ? [`[${pluralize(more, 'older file')} omitted: use a narrower pattern or path]`] : [];
    const content = [...filenames, ...note].join('\n') || 'No files found';
    return { content, isError: false, programResult };
  },
});

const MAX_SHOWN = 100;

/** An absolute pattern relative to the root; undefined if it is outside, where permission was not decided. */
function belowRoot(pattern: string, root: string): string | undefined {
  if (!pattern.startsWith('/')) return pattern;
  const prefix = root === '/' ? '/' : `${root}/`;
  return pattern.startsWith(prefix) ? pattern.slice(prefix.length) : undefined;
}
