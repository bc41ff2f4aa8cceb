import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const NOTEBOOK = {
  cells: [
    { cell_type: 'markdown', id: 'c1', metadata: {}, source: ['# Title'] },
    { cell_type: 'code', id: 'c2', execution_count: 3, metadata: {}, outputs: [], source: ['print(1)'] },
  ],
  metadata: { language_info: { name: 'python' } },
  nbformat: 4,
  nbformat_minor: 5,
};

const edit = (input: object) =>
  toolUse('NotebookEdit', { notebook_path: 'a.ipynb', new_source: 'x = 1', ...input });

export const script = [
  toolUse('Read', { file_path: 'a.ipynb' }),
  edit({ cell_id: 'c2' }),
  edit({ cell_id: 'c1', edit_mode: 'insert', cell_type: 'markdown', new_source: 'More' }),
  edit({ cell_id: 'c1', edit_mode: 'delete' }),
  text('Done.'),
];

/** Edits of notebooks need approval as those of other files. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const path = join(sandbox.cwd, 'a.ipynb');
  await writeFile(path, JSON.stringify(NOTEBOOK));
  const seen: unknown[] = [];
  const query = sdk.query({
    prompt: 'Edit it.',
    options: {
      ...options(sandbox),
      tools: ['Read', 'NotebookEdit'],
      canUseTool: async (name, input, { suggestions }) => {
        seen.push(['asked', name, suggestions]);
        return { behavior: 'allow', updatedInput: input };
      },
    },
  });
  for await (const message of query) {
    if (message.type !== 'user' || !Array.isArray(message.message.content)) continue;
    const [block] = message.message.content;
    if (block?.type !== 'tool_result') continue;
    const { original_file, updated_file, cell_id, ...result } = (message.tool_use_result ?? {}) as Record<
      string,
      unknown
    >;
    seen.push(['result', block.is_error === true, 'edit_mode' in result ? [result, typeof cell_id] : null]);
  }
  const { cells } = JSON.parse(await readFile(path, 'utf8')) as { cells: Record<string, unknown>[] };
  return [...seen, cells.map(({ id, ...cell }) => [typeof id, cell])];
}
