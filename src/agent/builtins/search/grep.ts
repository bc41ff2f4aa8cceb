import { compilePattern } from '../../../base/text/patterns.ts';
import type { GrepOutput } from '../../../protocol/tools/file-tools.ts';
import { failedOutcome, type ToolOutcome } from '../../loop/run-calls.ts';
import { defineBuiltIn } from '../built-in.ts';
import type { GrepEnd } from './run-grep.ts';

const DEFAULT_HEAD_LIMIT = 250;
const MAX_CHARACTERS = 30_000;
/** Maximum number of files with matches; all of them are collected, to sort them by time. */
const MAX_FILES = 10_000;
const TIMEOUT_MS = 20_000;

const COUNT = { type: 'integer', minimum: 0, maximum: 1000 } as const;

export const GREP = defineBuiltIn({
  name: 'Grep',
  description:
    'Searches the text of files with a regular expression (RE2 syntax), line by line. Returns the files that match, newest ' +
    'first, or with output_mode "content" the lines, or with "count" the number of matching lines in each file. Binary ' +
    'files, links, .git and node_modules are skipped.',
  annotations: { title: 'Search in files', readOnlyHint: true },
  required: {
    pattern: {
      type: 'string',
      minLength: 1,
      description:
        'The regular expression, without slashes or flags; lookaround and backreferences are not supported.',
    },
  },
  optional: {
    path: {
      type: 'string',
      minLength: 1,
      description: 'A directory or file; the working directory by default.',
    },
    glob: {
      type: 'string',
      minLength: 1,
      description: 'Only these files, such as "*.ts" or "src/**"; with "!" in front, all others.',
    },
    type: {
      type: 'string',
      minLength: 1,
      description: 'Only files of a kind: ts, js, py, go, rust, java, md, json, …',
    },
    output_mode: {
      type: 'string',
      enum: ['content', 'files_with_matches', 'count'],
      description: 'What to return; files_with_matches by default.',
    },
    '-i': { type: 'boolean', description: 'Ignore case.' },
    '-n': { type: 'boolean', description: 'Show line numbers with output_mode "content"; true by default.' },
    '-A': { ...COUNT, description: 'Lines of context after each match, with output_mode "content".' },
    '-B': { ...COUNT, description: 'Lines of context before each match, with output_mode "content".' },
    '-C': {
      ...COUNT,
      description: 'Lines of context before and after each match, with output_mode "content".',
    },
    context: { ...COUNT, description: 'The same as -C.' },
    '-o': { type: 'boolean', description: 'With output_mode "content", only the matching parts of lines.' },
    head_limit: {
      type: 'integer',
      minimum: 0,
      description: 'The maximum number of lines in the result; 250 by default, 0 for all.',
    },
    offset: { type: 'integer', minimum: 0, description: 'How many lines of the result to skip first.' },
    multiline: { type: 'boolean', description: 'Let a match span lines and "." match line breaks.' },
  },
  pathMember: 'path',
  async run(input, context, signal) {
    const {
      pattern,
      output_mode: mode = 'files_with_matches',
      head_limit: limit = DEFAULT_HEAD_LIMIT,
      offset = 0,
    } = input;
    const head = limit === 0 ? Number.POSITIVE_INFINITY : limit;
    const options = { ignoreCase: input['-i'] ?? false, multiline: input.multiline ?? false };
    const compiled = compilePattern(pattern, options);
    if (typeof compiled === 'string') {
      const members = 'set "-i" to ignore case and "multiline" to match across lines';
      return failedOutcome(`Invalid regular expression: ${compiled}. The syntax is RE2; ${members}`);
    }
    const [{ newestFirst, searchRoot, shownPath }, search, output, { MAX_FILE_BYTES }] = await Promise.all([
      import('./find-files.ts'),
      import('./run-grep.ts'),
      import('./grep-output.ts'),
      import('../files/real-file.ts'),
    ]);
    const root = await searchRoot(input.path, context.workspace);
    if (root.kind === 'refused') return failedOutcome(root.fault);
    const files = await search.grepFiles(root, input, context, signal);
    if (files.kind === 'refused') return failedOutcome(files.fault);
    const onlyMatching = input['-o'] ?? false;
    const around = onlyMatching ? 0 : (input['-C'] ?? input.context ?? 0);
    const before = onlyMatching ? 0 : (input['-B'] ?? around);
    const after = onlyMatching ? 0 : (input['-A'] ?? around);
    // One more than is shown, to know whether there is more.
    const needed = offset + head + 1;
    const enough =
      mode === 'content'
        ? ({ of: 'lines', count: needed } as const)
        : ({ of: 'files', count: mode === 'count' ? needed : MAX_FILES } as const);
    const job = {
      source: pattern,
      ...options,
      before,
      after,
      files: files.paths,
      largestFile: MAX_FILE_BYTES,
      enough,
    };
    const end = await search.runGrep(job, TIMEOUT_MS, signal);
    const shown = (path: string) => shownPath(path, context.workspace);
    const paths = end.hits.map(({ path }) => path);
    const entries = {
      content: () =>
        output.contentLines(end.hits, shown, {
          numbers: input['-n'] ?? true,
          context: before + after > 0,
          ...(onlyMatching && { only: compiled }),
        }),
      count: () => output.countLines(end.hits, shown),
      files_with_matches: async () => (await newestFirst(paths, signal)).map(shown),
    };
    const all = (await entries[mode]()).slice(offset);
    const { kept, note } = output.limitEntries(all, head, MAX_CHARACTERS);
    const found = [...kept, ...(note === undefined ? [] : [note])].join('\n');
    const described = describeMatches(mode, kept, all.length, end);
    const programResult = offset > 0 ? { ...described, appliedOffset: offset } : described;
    const total = kept.length < all.length || offset > 0 ? undefined : kept.length;
    return { ...outcomeOf(end, describeFound(found, mode, total, end)), programResult };
  },
});

/** The matches as programs and hooks get them; totals are known unless the search ended at its limit. */
function describeMatches(
  mode: NonNullable<GrepOutput['mode']>,
  kept: readonly string[],
  found: number,
  { hits }: GrepEnd,
): GrepOutput {
  const limit = kept.length < found ? { appliedLimit: kept.length } : {};
  switch (mode) {
    case 'files_with_matches':
      return { mode, filenames: [...kept], numFiles: kept.length, totalFiles: found, ...limit };
    case 'content': {
      const total = kept.length < found ? {} : { totalLines: found };
      const content = kept.join('\n');
      return { mode, numFiles: 0, filenames: [], content, numLines: kept.length, ...total, ...limit };
    }
    case 'count': {
      const numMatches = hits.reduce((sum, { count }) => sum + count, 0);
      return { mode, numFiles: hits.length, filenames: [], content: kept.join('\n'), numMatches, ...limit };
    }
  }
}

/** The matches with their number, unless there are more, in the words of the `claude` CLI. */
function describeFound(
  found: string,
  mode: NonNullable<GrepOutput['mode']>,
  entries: number | undefined,
  { hits }: GrepEnd,
): string {
  if (mode === 'content') return found || 'No matches found';
  if (entries === undefined) return found || 'No entries at this offset';
  if (mode === 'files_with_matches')
    return found ? `Found ${counted(entries, 'file')}\n${found}` : 'No files found';
  const occurrences = counted(
    hits.reduce((sum, { count }) => sum + count, 0),
    'total occurrence',
  );
  return `${found || 'No matches found'}\n\nFound ${occurrences} across ${counted(hits.length, 'file')}.`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function outcomeOf(end: GrepEnd, found: string): ToolOutcome {
  const lines = [found];
  if (end.tooLarge > 0) lines.push(`[${counted(end.tooLarge, 'file')} too large to search: use Bash]`);
  if (end.timedOut) {
    lines.push(
      `[Stopped after ${TIMEOUT_MS / 1000} seconds before all files were searched: use a narrower path or a simpler pattern]`,
    );
  }
  return { content: lines.join('\n'), isError: end.timedOut };
}
