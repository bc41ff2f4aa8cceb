import { isRecord } from '../../../base/json-value.ts';
import { pluralize, sliceText } from '../../../base/text/display-text.ts';
import type { UserBlock } from '../../../protocol/agent-message.ts';

/** A Jupyter notebook; members that are not used are kept as they are. */
export type Notebook = Record<string, unknown> & { readonly cells: readonly Cell[] };

type Cell = Record<string, unknown>;

export type CellType = 'code' | 'markdown';

export type NotebookEdit = {
  readonly mode: 'replace' | 'insert' | 'delete';
  readonly cellId?: string | undefined;
  readonly cellType?: CellType | undefined;
  readonly source: string;
  /** The id of an inserted cell. */
  readonly newId: string;
};

export type EditedNotebook = {
  readonly notebook: Notebook;
  readonly cellId: string;
  readonly cellType: CellType;
  readonly oldSource: string;
};

/** Maximum number of characters of the output of one cell that are shown. */
const MAX_OUTPUT_LENGTH = 10_000;
/** Maximum number of characters of all cells together that are shown. */
const MAX_LENGTH = 256_000;
const MAX_IMAGES = 20;

/** Parses the text of an `.ipynb` file; returns why it is not a notebook otherwise. */
export function parseNotebook(text: string): Notebook | { readonly fault: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: 'it is not valid JSON' };
  }
  if (!isRecord(value) || !Array.isArray(value.cells) || !value.cells.every(isRecord))
    return { fault: 'it has no list of cells' };
  return value as Notebook;
}

/** The text of a notebook file, as Jupyter formats it. */
export function formatNotebook(notebook: Notebook): string {
  return `${JSON.stringify(notebook, null, 1)}\n`;
}

export function languageOf({ metadata }: Notebook): string {
  const { language_info: info, kernelspec } = isRecord(metadata) ? metadata : {};
  if (isRecord(info) && typeof info.name === 'string') return info.name;
  return isRecord(kernelspec) && typeof kernelspec.language === 'string' ? kernelspec.language : 'python';
}

/** The cells and their outputs for the model: text, and images of outputs. */
export function renderNotebook(notebook: Notebook): UserBlock[] {
  const language = languageOf(notebook);
  const texts: string[] = [];
  const images: UserBlock[] = [];
  let length = 0;
  for (const [at, cell] of notebook.cells.entries()) {
    const text = renderCell(cell, idOf(cell, at), language);
    length += text.length;
    if (length > MAX_LENGTH) {
      texts.push(
        `[${pluralize(notebook.cells.length - at, 'more cell')} omitted: use Bash to read them, for example jq]`,
      );
      break;
    }
    texts.push(text);
    for (const image of imagesOf(cell)) if (images.length < MAX_IMAGES) images.push(image);
  }
  const text = texts.length === 0 ? 'The notebook has no cells.' : texts.join('\n').toWellFormed();
  return [{ type: 'text', text }, ...images];
}

/** What programs get about each cell. */
export function describeCells(notebook: Notebook): Record<string, unknown>[] {
  const language = languageOf(notebook);
  return notebook.cells.map((cell, at) => ({
    cellType: cell.cell_type,
    source: sourceOf(cell),
    cell_id: idOf(cell, at),
    ...(cell.cell_type === 'code' && { language, execution_count: cell.execution_count ?? null }),
    ...(outputText(cell) !== '' && { outputs: [{ output_type: 'text', text: outputText(cell) }] }),
  }));
}

/** Changes one cell; returns why that is not possible otherwise. */
export function editNotebook(
  notebook: Notebook,
  { mode, cellId, cellType, source, newId }: NotebookEdit,
): EditedNotebook | { readonly fault: string } {
  const at =
    cellId === undefined ? -1 : notebook.cells.findIndex((cell, index) => idOf(cell, index) === cellId);
  if (cellId !== undefined && at < 0) return { fault: `Cell with ID "${cellId}" not found in notebook.` };
  if (mode === 'insert') {
    if (!cellType) return { fault: 'cell_type is required with edit_mode insert.' };
    const added = newCell(cellType, source, hasIds(notebook) ? newId : undefined);
    const cells = notebook.cells.toSpliced(at + 1, 0, added);
    return { notebook: { ...notebook, cells }, cellId: idOf(added, at + 1), cellType, oldSource: '' };
  }
  const cell = notebook.cells[at];
  if (!cell || cellId === undefined) return { fault: `cell_id is required with edit_mode ${mode}.` };
  const oldType: CellType = cell.cell_type === 'code' ? 'code' : 'markdown';
  const oldSource = sourceOf(cell);
  if (mode === 'delete')
    return {
      notebook: { ...notebook, cells: notebook.cells.toSpliced(at, 1) },
      cellId,
      cellType: oldType,
      oldSource,
    };
  const type = cellType ?? oldType;
  const changed = withSource(cell, type, source);
  return {
    notebook: { ...notebook, cells: notebook.cells.with(at, changed) },
    cellId,
    cellType: type,
    oldSource,
  };
}

/** The former outputs of a code cell do not belong to its new source. */
function withSource(cell: Cell, type: CellType, source: string): Cell {
  const { outputs: _, execution_count: __, ...rest } = cell;
  const changed = { ...rest, cell_type: type, source };
  return type === 'code' ? { ...changed, execution_count: null, outputs: [] } : changed;
}

function newCell(type: CellType, source: string, id: string | undefined): Cell {
  const cell = { cell_type: type, ...(id !== undefined && { id }), metadata: {}, source };
  return type === 'code' ? { ...cell, execution_count: null, outputs: [] } : cell;
}

/** Cells have ids since version 4.5 of the format. */
function hasIds({ nbformat, nbformat_minor: minor }: Notebook): boolean {
  return Number(nbformat) > 4 || (Number(nbformat) === 4 && Number(minor) >= 5);
}

/** A cell without an id is named by its position. */
function idOf({ id }: Cell, at: number): string {
  return typeof id === 'string' && id !== '' ? id : `cell-${at}`;
}

function sourceOf({ source }: Cell): string {
  return joined(source);
}

function joined(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.filter((it) => typeof it === 'string').join('') : '';
}

function renderCell(cell: Cell, id: string, language: string): string {
  const name = id.replaceAll(/["<>&]/g, '_');
  const type = cell.cell_type === 'code' ? '' : `<cell_type>${String(cell.cell_type)}</cell_type>`;
  const note = cell.cell_type === 'code' && language !== 'python' ? `<language>${language}</language>` : '';
  const output = outputText(cell);
  return `<cell id="${name}">${type}${note}${sourceOf(cell)}</cell id="${name}">${output === '' ? '' : `\n${output}`}`;
}

/** What the cell printed: streams, plain results and errors. */
function outputText({ outputs }: Cell): string {
  if (!Array.isArray(outputs)) return '';
  const texts = outputs.filter(isRecord).map((output) => {
    const { output_type: type, text, data, ename, evalue, traceback } = output;
    if (type === 'stream') return joined(text);
    if (type === 'error') return joined(traceback) || `${String(ename)}: ${String(evalue)}`;
    return isRecord(data) ? joined(data['text/plain']) : '';
  });
  const all = texts.filter((text) => text !== '').join('\n');
  if (all.length <= MAX_OUTPUT_LENGTH) return all;
  return `${sliceText(all, MAX_OUTPUT_LENGTH)}\n[${all.length - MAX_OUTPUT_LENGTH} more characters of output omitted]`;
}

function imagesOf({ outputs }: Cell): UserBlock[] {
  if (!Array.isArray(outputs)) return [];
  return outputs.filter(isRecord).flatMap(({ data }) => {
    if (!isRecord(data)) return [];
    const type = ['image/png', 'image/jpeg'].find((it) => joined(data[it]) !== '');
    if (type === undefined) return [];
    const source = { type: 'base64', media_type: type, data: joined(data[type]).replaceAll(/\s/g, '') };
    return [{ type: 'image', source } as UserBlock];
  });
}
