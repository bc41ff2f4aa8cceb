import { absolutePath } from '../../../permissions/path.ts';
import type { FileWriteOutput } from '../../../protocol/tools/file-tools.ts';
import { failedOutcome } from '../../loop/run-calls.ts';
import { defineBuiltIn } from '../built-in.ts';
import { staleness } from './file-memory.ts';

export const WRITE = defineBuiltIn({
  name: 'Write',
  description:
    'Writes a complete file and creates missing parent directories. An existing file is replaced and must have been read ' +
    'with Read before; use Edit to change a part of a file.',
  annotations: { title: 'Write a file', readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  required: {
    file_path: {
      type: 'string',
      minLength: 1,
      description: 'The path of the file; a relative path is resolved against the working directory.',
    },
    content: { type: 'string', description: 'The complete new text.' },
  },
  optional: {},
  pathMember: 'file_path',
  async run({ file_path, content }, { workspace, files, checkpoints, givenPath = file_path }, signal) {
    const path = absolutePath(file_path, workspace);
    const { readReal, describeChange, digestOf, replaceFile } = await import('./real-file.ts');
    const old = await readReal(path, signal);
    if (old.kind === 'refused') return failedOutcome(old.fault);
    const stale = old.kind === 'file' ? staleness(path, files.knows(path, old.digest)) : undefined;
    if (stale !== undefined) return failedOutcome(stale);
    const bytes = Buffer.from(content);
    await checkpoints?.track(path, old);
    const failed = await replaceFile(path, bytes, old.kind === 'file' ? { mode: old.mode } : {});
    if (failed) return failedOutcome(failed.fault);
    files.remember(path, digestOf(bytes));
    // An empty file counts as new.
    const before = old.kind === 'file' && old.bytes.length > 0 ? old.bytes.toString('utf8') : null;
    const programResult: FileWriteOutput = {
      type: before === null ? 'create' : 'update',
      content,
      ...describeChange(givenPath, before, content),
    };
    return {
      content:
        before === null
          ? `File created successfully at: ${givenPath}`
          : `The file ${givenPath} has been updated successfully.`,
      isError: false,
      programResult,
    };
  },
});
