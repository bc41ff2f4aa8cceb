import { absolutePath } from '../../../permissions/path.ts';
import type { NotebookEditOutput } from '../../../protocol/tools/file-tools.ts';
import { failedOutcome } from '../../loop/run-calls.ts';
import { defineBuiltIn } from '../built-in.ts';
import { staleness } from './file-memory.ts';

/** Changes one cell of a Jupyter notebook. */
export const NOTEBOOK_EDIT = defineBuiltIn({
  name: 'NotebookEdit',
  description:
    'Changes one cell of a Jupyter notebook (.ipynb) that was read with Read before: replaces its source, inserts a new cell after it, or deletes it. ' +
    'Replacing the source of a code cell removes its outputs.',
  annotations: { title: 'Edit a notebook', readOnlyHint: false, destructiveHint: true },
  required: {
    notebook_path: {
      type: 'string',
      minLength: 1,
      description: 'The path of the notebook; a relative path is resolved against the working directory.',
    },
    new_source: { type: 'string', description: 'The source of the cell; ignored with edit_mode delete.' },
  },
  optional: {
    cell_id: {
      type: 'string',
      description:
        'The id of the cell, as Read shows it. A new cell is inserted after this cell, or at the start if cell_id is not given.',
    },
    cell_type: {
      type: 'string',
      enum: ['code', 'markdown'],
      description: 'The type of the cell; required with edit_mode insert.',
    },
    edit_mode: { type: 'string', enum: ['replace', 'insert', 'delete'], description: 'Default: replace.' },
  },
  pathMember: 'notebook_path',
  async run(
    { notebook_path, new_source, cell_id, cell_type, edit_mode = 'replace' },
    { workspace, files, checkpoints },
    signal,
  ) {
    const path = absolutePath(notebook_path, workspace);
    if (!/\.ipynb$/i.test(path)) return failedOutcome(`${path} is not a Jupyter notebook: use Edit`);
    const { readReal, digestOf, replaceFile } = await import('./real-file.ts');
    const { editNotebook, formatNotebook, languageOf, parseNotebook } = await import('./notebook.ts');
    const old = await readReal(path, signal);
    if (old.kind === 'refused') return failedOutcome(old.fault);
    if (old.kind === 'missing') return failedOutcome(`${path} does not exist: create it with Write`);
    const stale = staleness(path, files.knows(path, old.digest));
    if (stale !== undefined) return failedOutcome(stale);
    const text = old.bytes.toString('utf8');
    const notebook = parseNotebook(text);
    if ('fault' in notebook) return failedOutcome(`${path} is not a notebook: ${notebook.fault}`);
    const newId = Array.from(crypto.getRandomValues(new Uint8Array(4)), (it) =>
      it.toString(16).padStart(2, '0'),
    );
    const edited = editNotebook(notebook, {
      mode: edit_mode,
      cellId: cell_id,
      cellType: cell_type,
      source: new_source,
      newId: newId.join(''),
    });
    if ('fault' in edited) return failedOutcome(edited.fault);
    const updated = formatNotebook(edited.notebook);
    const bytes = Buffer.from(updated);
    await checkpoints?.track(path, old);
    const failed = await replaceFile(path, bytes, { mode: old.mode });
    if (failed) return failedOutcome(failed.fault);
    files.remember(path, digestOf(bytes));
    const programResult: NotebookEditOutput = {
      new_source,
      ...(edit_mode !== 'insert' && { old_source: edited.oldSource }),
      cell_id: edited.cellId,
      // The `claude` CLI reports `code` for a deleted cell of any type.
      cell_type: edit_mode === 'delete' ? (cell_type ?? 'code') : edited.cellType,
      language: languageOf(notebook),
      edit_mode,
      error: '',
      notebook_path: path,
      original_file: text,
      updated_file: updated,
    };
    const content = {
      replace: `Updated cell ${edited.cellId} with ${new_source}`,
      insert: `Inserted cell ${edited.cellId} with ${new_source}`,
      delete: `Deleted cell ${edited.cellId}`,
    }[edit_mode];
    return { content, isError: false, programResult };
  },
});
