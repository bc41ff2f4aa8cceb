import { literalFinder } from '../../../base/text/patterns.ts';
import { absolutePath } from '../../../permissions/path.ts';
import type { FileEditOutput } from '../../../protocol/tools/file-tools.ts';
import { failedOutcome } from '../../loop/run-calls.ts';
import { defineBuiltIn } from '../built-in.ts';
import { staleness } from './file-memory.ts';

export const EDIT = defineBuiltIn({
  name: 'Edit',
  description:
    'Replaces text in a file that was read with Read before. old_string is literal, without line numbers, and must occur ' +
    'in the file exactly once unless replace_all is true.',
  annotations: { title: 'Edit a file', readOnlyHint: false, destructiveHint: true },
  required: {
    file_path: {
      type: 'string',
      minLength: 1,
      description: 'The path of the file; a relative path is resolved against the working directory.',
    },
    old_string: {
      type: 'string',
      description: 'The text to replace, including white space; empty to create a file.',
    },
    new_string: { type: 'string', description: 'The replacement text.' },
  },
  optional: { replace_all: { type: 'boolean', description: 'Replace every occurrence; false by default.' } },
  defaults: { replace_all: false },
  pathMember: 'file_path',
  async run(
    { file_path, old_string, new_string, replace_all = false },
    { workspace, files, checkpoints, givenPath = file_path },
    signal,
  ) {
    if (old_string === new_string)
      return failedOutcome('old_string and new_string are identical: change one of them');
    const path = absolutePath(file_path, workspace);
    const { readReal, describeChange, digestOf, replaceFile } = await import('./real-file.ts');
    const old = await readReal(path, signal);
    if (old.kind === 'refused') return failedOutcome(old.fault);
    const isNew = old.kind === 'missing';
    if (isNew && old_string !== '') return failedOutcome(`${path} does not exist: create it with Write`);
    const stale = isNew ? undefined : staleness(path, files.knows(path, old.digest));
    if (stale !== undefined) return failedOutcome(stale);
    if (!isNew && old_string === '' && old.bytes.length > 0)
      return failedOutcome(`${path} has content already: name the text to replace in old_string`);
    const text = isNew ? '' : old.bytes.toString('utf8');
    if (!isNew && !Buffer.from(text).equals(old.bytes)) {
      return failedOutcome(`${path} is not UTF-8 text and Edit would corrupt it: change the file with Bash`);
    }
    const replaced =
      old_string === '' ? { text: new_string, times: 1 } : replaceText(text, old_string, new_string);
    if (replaced.times === 0)
      return failedOutcome(
        `old_string was not found in ${path}: the text must match exactly, including white space`,
      );
    if (replaced.times > 1 && !replace_all) {
      return failedOutcome(
        `old_string occurs ${replaced.times} times in ${path}: include more context, or set replace_all`,
      );
    }
    const bytes = Buffer.from(replaced.text);
    await checkpoints?.track(path, old);
    const failed = await replaceFile(path, bytes, isNew ? {} : { mode: old.mode });
    if (failed) return failedOutcome(failed.fault);
    files.remember(path, digestOf(bytes));
    const programResult: FileEditOutput = {
      ...describeChange(givenPath, text, replaced.text),
      oldString: old_string,
      newString: new_string,
      replaceAll: replace_all,
    };
    const content = replace_all
      ? `The file ${givenPath} has been updated. All occurrences were successfully replaced.`
      : `The file ${givenPath} has been updated successfully.`;
    return { content, isError: false, programResult };
  },
});

/**
 * Replaces every literal occurrence. In a text with CRLF line ends, a line end of `from` matches both kinds, because
 * numbered lines do not show the difference, and the replacement uses the kind that it replaces.
 */
export function replaceText(
  text: string,
  from: string,
  to: string,
): { readonly text: string; readonly times: number } {
  if (!text.includes('\r\n') || /\r(?!\n)/.test(from)) {
    const parts = splitAt(text, from);
    return { text: parts.join(to), times: parts.length - 1 };
  }
  const usual = mostlyCrlf(text) ? '\r\n' : '\n';
  const kept = splitAt(text.replaceAll('\r\n', '\n'), from.replaceAll('\r\n', '\n'));
  let at = 0;
  const take = (normalized: string): string => {
    const start = at;
    for (let left = normalized.length; left > 0; left--) at += text.startsWith('\r\n', at) ? 2 : 1;
    return text.slice(start, at);
  };
  const parts: string[] = [];
  for (const [index, part] of kept.entries()) {
    if (index > 0) {
      const found = take(from.replaceAll('\r\n', '\n'));
      const lineEnd = found.includes('\r\n') ? '\r\n' : found.includes('\n') ? '\n' : usual;
      parts.push(to.replace(/\r?\n/g, () => lineEnd));
    }
    parts.push(take(part));
  }
  return { text: parts.join(''), times: kept.length - 1 };
}

/** `text.split(from)` in linear time. */
function splitAt(text: string, from: string): string[] {
  const find = literalFinder(from);
  const parts: string[] = [];
  let start = 0;
  for (let end = find(text, 0); end !== -1; end = find(text, end)) {
    parts.push(text.slice(start, end - from.length));
    start = end;
  }
  return [...parts, text.slice(start)];
}

function mostlyCrlf(text: string): boolean {
  const crlf = text.split('\r\n').length;
  return crlf * 2 > text.split('\n').length;
}
