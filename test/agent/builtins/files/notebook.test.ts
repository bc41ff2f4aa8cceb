import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NOTEBOOK_EDIT } from '../../../../src/agent/builtins/files/notebook-edit.ts';
import { READ } from '../../../../src/agent/builtins/files/read.ts';
import { call, directoryWith, failed, worldIn } from '../built-in-world.ts';

const NOTEBOOK = {
  cells: [
    { cell_type: 'markdown', id: 'c1', metadata: {}, source: ['# Title\n', 'Text'] },
    {
      cell_type: 'code',
      id: 'c2',
      execution_count: 3,
      metadata: { tags: ['x'] },
      outputs: [
        { output_type: 'stream', name: 'stdout', text: ['1\n', '2\n'] },
        { output_type: 'display_data', data: { 'image/png': 'iVBORw0KGgo=\n', 'text/plain': ['<Figure>'] } },
        { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['E: v'] },
      ],
      source: 'print(1)',
    },
  ],
  metadata: { language_info: { name: 'python' } },
  nbformat: 4,
  nbformat_minor: 5,
};

function notebook(content: unknown = NOTEBOOK) {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const cwd = directoryWith({ 'a.ipynb': text });
  const world = worldIn(cwd);
  const read = () => call(READ, { file_path: 'a.ipynb' }, world);
  const edit = (input: object) =>
    call(NOTEBOOK_EDIT, { notebook_path: 'a.ipynb', new_source: '', ...input }, world);
  const stored = () => JSON.parse(readFileSync(join(cwd, 'a.ipynb'), 'utf8'));
  return { cwd, read, edit, stored, text: () => readFileSync(join(cwd, 'a.ipynb'), 'utf8') };
}

test('Read shows the cells with their ids, what they printed, and the images of outputs', async () => {
  const { content, programResult } = await notebook().read();
  expect(content).toEqual([
    {
      type: 'text',
      text: [
        '<cell id="c1"><cell_type>markdown</cell_type># Title\nText</cell id="c1">',
        '<cell id="c2">print(1)</cell id="c2">',
        '1\n2\n',
        '<Figure>',
        'E: v',
      ].join('\n'),
    },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
  ]);
  expect(programResult).toMatchObject({
    type: 'notebook',
    file: { filePath: 'a.ipynb', cells: [{ cell_id: 'c1' }, { cell_id: 'c2', execution_count: 3 }] },
  });
});

test.each(['{"cells": 1}', 'no json', '{"cells": ["x"]}'])(
  'Read shows a broken notebook as text: %s',
  async (text) => {
    expect(await notebook(text).read()).toMatchObject({ content: `1\t${text}`, isError: false });
  },
);

describe('NotebookEdit', () => {
  test('replaces the source of a cell, removes its outputs and keeps everything else', async () => {
    const { cwd, read, edit, stored, text } = notebook();
    await read();
    const outcome = await edit({ cell_id: 'c2', new_source: 'print(2)' });
    expect(outcome).toMatchObject({
      isError: false,
      programResult: {
        old_source: 'print(1)',
        new_source: 'print(2)',
        cell_id: 'c2',
        cell_type: 'code',
        language: 'python',
        edit_mode: 'replace',
        error: '',
        notebook_path: join(cwd, 'a.ipynb'),
        original_file: JSON.stringify(NOTEBOOK),
        updated_file: text(),
      },
    });
    expect(stored().cells[1]).toEqual({
      cell_type: 'code',
      id: 'c2',
      execution_count: null,
      metadata: { tags: ['x'] },
      outputs: [],
      source: 'print(2)',
    });
    expect(stored().cells[0]).toEqual(NOTEBOOK.cells[0]);
    expect(text()).toMatch(/^\{\n "cells": \[\n {2}\{\n/);
  });

  test('inserts after a cell or at the start, with a new id, and deletes', async () => {
    const { read, edit, stored } = notebook();
    await read();
    await edit({ edit_mode: 'insert', cell_id: 'c1', cell_type: 'code', new_source: 'a\nb' });
    await edit({ edit_mode: 'insert', cell_type: 'markdown', new_source: 'first' });
    expect(stored().cells.map(({ source }: { source: unknown }) => source)).toEqual([
      'first',
      ['# Title\n', 'Text'],
      'a\nb',
      'print(1)',
    ]);
    expect(stored().cells[2].id).toMatch(/^[0-9a-f]{8}$/);
    await edit({ edit_mode: 'delete', cell_id: 'c1' });
    expect(stored().cells).toHaveLength(3);
  });

  test('cells without ids are named by their position', async () => {
    const cells = NOTEBOOK.cells.map(({ id: _, ...cell }) => cell);
    const { read, edit, stored } = notebook({ ...NOTEBOOK, cells, nbformat_minor: 4 });
    expect(JSON.stringify((await read()).content)).toContain('cell-1');
    await edit({ cell_id: 'cell-0', new_source: 'New' });
    await edit({ edit_mode: 'insert', cell_id: 'cell-0', cell_type: 'markdown', new_source: 'x' });
    expect(stored().cells.map((cell: object) => 'id' in cell)).toEqual([false, false, false]);
  });

  test.each([
    [{ cell_id: 'no' }, 'Cell with ID "no" not found in notebook.'],
    [{}, 'cell_id is required with edit_mode replace.'],
    [{ edit_mode: 'insert' }, 'cell_type is required with edit_mode insert.'],
  ])('%j is an error and changes nothing', async (input, text) => {
    const { read, edit, stored } = notebook();
    await read();
    expect(await edit(input)).toEqual(failed(text));
    expect(stored()).toEqual(NOTEBOOK);
  });

  test('the notebook must have been read, and be a notebook', async () => {
    const { edit, stored } = notebook();
    expect(await edit({ cell_id: 'c1' })).toMatchObject({ isError: true });
    expect(await edit({ cell_id: 'c1', notebook_path: 'a.txt' })).toMatchObject({ isError: true });
    expect(stored()).toEqual(NOTEBOOK);
  });
});
