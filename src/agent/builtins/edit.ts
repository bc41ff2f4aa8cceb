import { absolutePath } from '../../permissions/path.ts';
import { failedOutcome } from '../loop/tool-call.ts';
import { defineBuiltIn } from './define.ts';
import { staleness } from './file-memory.ts';
import { replaceText } from './replace-text.ts';

export const EDIT = defineBuiltIn({
  name: 'Edit',
  description:
    'Replaces text in a file that was read with Read before. old_string is literal, without line numbers, and must be in ' +
    'the file exactly once, or replace_all be true.',
  annotations: { title: 'Edit a file', readOnlyHint: false, destructiveHint: true },
  required: {
    file_path: {
      type: 'string',
      minLength: 1,
      description: 'The file; a relative path starts at the working directory.',
    },
    old_string: { type: 'string', minLength: 1, description: 'The text to replace, with its white space.' },
    new_string: { type: 'string', description: 'What stands there afterwards.' },
  },
  optional: { replace_all: { type: 'boolean', description: 'Replace it everywhere; false when left out.' } },
  pathMember: 'file_path',
  async run({ file_path, old_string, new_string, replace_all = false }, { workspace, files }, signal) {
    if (old_string === new_string)
      return failedOutcome('old_string and new_string are the same: nothing to do');
    const path = absolutePath(file_path, workspace);
    const [{ readReal, digestOf }, { replaceFile }] = await Promise.all([
      import('./read-real.ts'),
      import('./replace-file.ts'),
    ]);
    const old = await readReal(path, signal);
    if (old.kind === 'refused') return failedOutcome(old.fault);
    if (old.kind === 'missing') return failedOutcome(`${path} does not exist: create it with Write`);
    const stale = staleness(path, files.knows(path, old.digest));
    if (stale !== undefined) return failedOutcome(stale);
    const text = old.bytes.toString('utf8');
    if (!Buffer.from(text).equals(old.bytes)) {
      return failedOutcome(`${path} is not UTF-8 text: Edit would damage it, change it with Bash`);
    }
    const replaced = replaceText(text, old_string, new_string);
    if (replaced.times === 0)
      return failedOutcome(`old_string is not in ${path}: it must be there character by character`);
    if (replaced.times > 1 && !replace_all) {
      return failedOutcome(
        `old_string is in ${path} ${replaced.times} times: take in more of its surroundings, or set replace_all`,
      );
    }
    const bytes = Buffer.from(replaced.text);
    const failed = await replaceFile(path, bytes, { mode: old.mode });
    if (failed) return failedOutcome(failed.fault);
    files.remember(path, digestOf(bytes));
    const times = replaced.times === 1 ? 'one place' : `${replaced.times} places`;
    return { content: `Updated ${path} in ${times}`, isError: false };
  },
});
